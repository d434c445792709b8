// Unpacks zip archives of data sets from untrusted servers: every name is checked before the first byte is
// written, no existing file is overwritten, and no more is written than the archive states.
#include "data/unzip.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string_view>

#include "data/atomic_file.h"
#include "data/disk_space.h"
#include "data/text_lines.h"
#include "data/zip_limits.h"

namespace eignn {
namespace {

namespace fs = std::filesystem;

constexpr const char* not_trusted = "do not trust this archive; get it from another place";
constexpr const char* get_again = "the archive is damaged: download it again";
constexpr zip_int64_t most_members = 100000;

using Archive = std::unique_ptr<zip_t, void (*)(zip_t*)>;

struct Member {
  zip_uint64_t index;
  std::string name;
  zip_uint64_t size;
};

Archive open_archive(const std::string& path) {
  int code = 0;
  Archive archive(zip_open(path.c_str(), ZIP_RDONLY, &code), zip_discard);
  if (archive) return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string reason = zip_error_strerror(&error);
  zip_error_fini(&error);
  refuse("not a zip archive, or cut off: " + reason, path, "download it again");
}

// A relative path whose parts are names, with / between them.
bool stays_inside(std::string_view name) {
  if (name.empty() || name.front() == '/') return false;
  for (const char c : name)
    if (c == '\\' || c == ':' || static_cast<unsigned char>(c) < 0x20) return false;
  while (!name.empty()) {
    const size_t end = name.find('/');
    const std::string_view part = name.substr(0, end);
    if (part.empty() || part == "." || part == "..") return false;
    name.remove_prefix(end == std::string_view::npos ? name.size() : end + 1);
  }
  return true;
}

// Links, devices and pipes are marked in the Unix mode; archives of other systems have none.
bool is_special(zip_t* archive, zip_uint64_t index) {
  zip_uint8_t system = 0;
  zip_uint32_t attributes = 0;
  if (zip_file_get_external_attributes(archive, index, 0, &system, &attributes) != 0) return true;
  if (system != ZIP_OPSYS_UNIX) return false;
  const mode_t kind = (attributes >> 16U) & S_IFMT;
  return kind != 0 && kind != S_IFREG && kind != S_IFDIR;
}

// The files of the archive, after all checks.
std::vector<Member> members_of(zip_t* archive, const std::string& path) {
  const zip_int64_t count = zip_get_num_entries(archive, 0);
  if (count > most_members) refuse(fmt::format("{} files", count), path, not_trusted);
  std::vector<Member> members;
  zip_uint64_t total = 0;
  for (zip_uint64_t i = 0; i < static_cast<zip_uint64_t>(count); ++i) {
    zip_stat_t status;
    if (zip_stat_index(archive, i, 0, &status) != 0) refuse(zip_strerror(archive), path, get_again);
    const std::string name = status.name;
    const Where where(path, quote(name));
    if (!stays_inside(name)) refuse("a name that leads out of the folder", where, not_trusted);
    if (is_special(archive, i)) refuse("a link or another thing that is no file", where, not_trusted);
    if (status.encryption_method != ZIP_EM_NONE) refuse("encrypted", where, not_trusted);
    if (status.size > UINT64_MAX - total) refuse("a size beyond reason", where, not_trusted);
    total += status.size;
    if (name.back() == '/' || name.rfind("__MACOSX/", 0) == 0) continue;
    members.push_back({i, name, status.size});
  }
  if (members.empty()) refuse("no files inside", path, get_again);
  // Checked for the whole archive, because several members could share the same packed bytes.
  if (const uint64_t packed = fs::file_size(path); unpacks_too_far(packed, total))
    refuse(fmt::format("{} bytes claim to unpack to {}", packed, total), path, not_trusted);
  return members;
}

// "arxiv/" when all names begin with it.
std::string common_folder(const std::vector<Member>& members) {
  const std::string& first = members.front().name;
  const size_t end = first.find('/');
  if (end == std::string::npos) return "";
  std::string folder = first.substr(0, end + 1);
  const bool common = std::all_of(members.begin(), members.end(),
                                  [&](const Member& member) { return member.name.rfind(folder, 0) == 0; });
  return common ? folder : "";
}

void unpack(zip_t* archive, const Member& member, const std::string& path, const Where& where) {
  const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> packed(zip_fopen_index(archive, member.index, 0),
                                                                 zip_fclose);
  if (!packed) refuse(zip_strerror(archive), where, get_again);
  // The mode x fails when a file or link of that name exists.
  FileHandle file(std::fopen(path.c_str(), "wbxe"));
  if (!file && errno == EEXIST) refuse("the same name twice", where, not_trusted);
  if (!file) refuse_file("write", path, errno);
  std::vector<char> chunk(size_t{1} << 16);
  zip_uint64_t written = 0;
  while (const zip_int64_t got = zip_fread(packed.get(), chunk.data(), chunk.size())) {
    if (got < 0) refuse(zip_file_strerror(packed.get()), where, get_again);
    written += static_cast<zip_uint64_t>(got);
    if (written > member.size) refuse("more data than stated", where, get_again);
    const auto size = static_cast<size_t>(got);
    if (std::fwrite(chunk.data(), 1, size, file.get()) != size) refuse_file("write", path, errno);
  }
  if (written < member.size)
    refuse(fmt::format("{} bytes of data, {} are stated", written, member.size), where, get_again);
  if (std::fflush(file.get()) != 0 || fsync(fileno(file.get())) != 0) refuse_file("write", path, errno);
}

}  // namespace

std::vector<std::string> unpack_zip(const std::string& archive, const std::string& folder) {
  const Archive opened = open_archive(archive);
  const std::vector<Member> members = members_of(opened.get(), archive);
  double unpacked = 0;
  for (const Member& member : members) unpacked += static_cast<double>(member.size);
  require_space(folder, unpacked, "the archive");
  const std::string outer = common_folder(members);
  std::vector<std::string> files;
  for (const Member& member : members) {
    files.push_back(member.name.substr(outer.size()));
    const std::string path = folder + "/" + files.back();
    make_folders(fs::path(path).parent_path().string());
    unpack(opened.get(), member, path, {archive, quote(member.name)});
  }
  return files;
}

}  // namespace eignn
