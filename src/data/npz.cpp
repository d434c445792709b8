// NumPy's .npz: a zip archive, stored or deflated, in which the array `edges` is the member "edges.npy", a
// whole .npy file (npy.cpp). `unzip -l graph.npz` lists the members. Others than .npy are ignored.
#include "data/npz.h"

#include <fmt/format.h>

#include "eignn/error.h"

#ifdef EIGNN_HAVE_LIBZIP

#include <zip.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "data/atomic_file.h"
#include "data/text_lines.h"
#include "data/zip_limits.h"

namespace eignn {
namespace {

constexpr std::string_view extension = ".npy";
constexpr const char* save_again = "the archive is damaged: copy it again, or save it again with numpy.savez";

zip_t* open_archive(const std::string& path) {
  zip_error_t error;
  zip_error_init(&error);
  FileHandle file = open_for_reading(path);
  zip_source_t* source = zip_source_filep_create(file.get(), 0, -1, &error);
  if (source != nullptr) static_cast<void>(file.release());  // the source closes it
  zip_t* archive = source == nullptr ? nullptr : zip_open_from_source(source, ZIP_RDONLY, &error);
  const std::string reason = zip_error_strerror(&error);
  zip_error_fini(&error);
  if (archive != nullptr) return archive;
  zip_source_free(source);
  refuse("not a zip archive, or cut off: " + reason, path, "save it with numpy.savez");
}

// numpy writes two methods only.
void check_member(const zip_stat_t& member, const std::string& origin) {
  if (member.encryption_method != ZIP_EM_NONE) refuse("encrypted", origin, "save it without a password");
  if (member.comp_method != ZIP_CM_STORE && member.comp_method != ZIP_CM_DEFLATE) {
    refuse(fmt::format("unknown compression method {}", member.comp_method), origin,
           "save it with numpy.savez or numpy.savez_compressed");
  }
  if (unpacks_too_far(member.comp_size, member.size)) {
    refuse(fmt::format("{} bytes claim to unpack to {}", member.comp_size, member.size), origin,
           "if you trust it, save it with numpy.savez (not compressed)");
  }
}

// All bytes of a member. Memory grows with what really arrives, not with what the archive claims.
std::vector<unsigned char> unpack(zip_file_t* member, zip_uint64_t size, const std::string& origin) {
  constexpr zip_uint64_t chunk = zip_uint64_t{1} << 20;
  std::vector<unsigned char> bytes;
  while (true) {
    const size_t used = bytes.size();
    // One byte more than stated: it must not be there, and asking for it makes libzip compare the checksum.
    bytes.resize(
        used + static_cast<size_t>(std::min<zip_uint64_t>(size - used, std::max<zip_uint64_t>(chunk, used))) +
        1);
    const zip_int64_t got = zip_fread(member, &bytes[used], bytes.size() - used);
    if (got < 0) refuse(zip_file_strerror(member), origin, save_again);
    bytes.resize(used + static_cast<size_t>(got));
    if (bytes.size() > size) refuse("more data than stated", origin, save_again);
    if (got == 0) break;
  }
  if (bytes.size() < size) {
    refuse(fmt::format("{} bytes of data, {} are stated", bytes.size(), size), origin, save_again);
  }
  return bytes;
}

}  // namespace

NpzReader::NpzReader(const std::string& path) : path_(path), archive_(open_archive(path), zip_discard) {
  // Some versions of libzip take an empty file for an empty archive.
  if (names().empty()) refuse("the archive holds no arrays", path_, "save it with numpy.savez");
}

bool NpzReader::has(const std::string& member) const {
  return zip_name_locate(archive_.get(), (member + std::string(extension)).c_str(), 0) >= 0;
}

std::vector<std::string> NpzReader::names() const {
  std::vector<std::string> result;
  const zip_int64_t count = zip_get_num_entries(archive_.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* found = zip_get_name(archive_.get(), static_cast<zip_uint64_t>(i), 0);
    const std::string_view file = found == nullptr ? "" : found;
    if (file.size() <= extension.size()) continue;
    const size_t stem = file.size() - extension.size();
    if (file.substr(stem) == extension) result.emplace_back(file.substr(0, stem));
  }
  return result;
}

Array NpzReader::read(const std::string& member) const {
  const std::string file = member + std::string(extension);
  const std::string origin = fmt::format("{}[{}]", path_, member);
  zip_stat_t status;
  if (!has(member)) {
    std::string present;
    for (const std::string& other : names()) present += (present.empty() ? "" : ", ") + quote(other);
    refuse(fmt::format("no array {} among {}", quote(member), present), path_, "save it under that name");
  }
  if (zip_stat(archive_.get(), file.c_str(), 0, &status) != 0) refuse("unreadable entry", origin, save_again);
  check_member(status, origin);

  const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> opened(zip_fopen(archive_.get(), file.c_str(), 0),
                                                                 zip_fclose);
  if (!opened) refuse(zip_strerror(archive_.get()), origin, save_again);
  const std::vector<unsigned char> bytes = unpack(opened.get(), status.size, origin);
  return parse_npy(bytes.data(), bytes.size(), origin);
}

}  // namespace eignn

#else  // without libzip

namespace eignn {

NpzReader::NpzReader(const std::string& path) : path_(path), archive_(nullptr, [](zip*) {}) {
  throw InputError(fmt::format(
      "this build cannot read .npz ({}); rebuild without EIGNN_MINIMAL, or use a .mtx file or an edge list",
      path));
}

// Never reached: there is no reader to ask.
bool NpzReader::has(const std::string&) const {
  return false;
}
std::vector<std::string> NpzReader::names() const {
  return {};
}
Array NpzReader::read(const std::string&) const {
  return {};
}

}  // namespace eignn

#endif
