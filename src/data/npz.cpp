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
#include "data/memory_limit.h"
#include "data/text_lines.h"
#include "data/zip_limits.h"

namespace eignn {
namespace {

constexpr std::string_view extension = ".npy";
constexpr const char* save_again = "the archive is damaged: copy it again, or save it again with numpy.savez";

struct ZipError {
  zip_error_t value;
  ZipError() { zip_error_init(&value); }
  ~ZipError() { zip_error_fini(&value); }
  ZipError(const ZipError&) = delete;
  ZipError& operator=(const ZipError&) = delete;
};

// Takes ownership of the source. A null source is refused with the reason in `error`.
zip_t* open_source(zip_source_t* source, ZipError* error, const std::string& origin) {
  zip_t* archive = source == nullptr ? nullptr : zip_open_from_source(source, ZIP_RDONLY, &error->value);
  if (archive != nullptr) return archive;
  zip_source_free(source);
  refuse(fmt::format("not a zip archive, or cut off: {}", zip_error_strerror(&error->value)), origin,
         "save it with numpy.savez");
}

zip_t* open_archive(const std::string& path) {
  ZipError error;
  FileHandle file = open_for_reading(path);
  zip_source_t* source = zip_source_filep_create(file.get(), 0, -1, &error.value);
  if (source != nullptr) static_cast<void>(file.release());  // the source closes it
  return open_source(source, &error, path);
}

zip_t* open_archive(std::string_view bytes, const std::string& origin) {
  ZipError error;
  return open_source(zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error.value), &error, origin);
}

// numpy uses only these two compression methods.
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
  require_memory(member.size, origin);
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

// Some versions of libzip take an empty file for an empty archive.
void check_not_empty(const NpzReader& archive, const std::string& origin) {
  if (archive.names().empty()) refuse("the archive holds no arrays", origin, "save it with numpy.savez");
}

[[noreturn]] void fail_to_write(const std::string& path, const char* reason) {
  throw ResourceError(fmt::format("cannot write: {}", reason), path, "choose another path");
}

}  // namespace

NpzReader::NpzReader(const std::string& path) : path_(path), archive_(open_archive(path), zip_discard) {
  check_not_empty(*this, path_);
}

NpzReader::NpzReader(std::string_view bytes, const std::string& origin)
    : path_(origin), archive_(open_archive(bytes, origin), zip_discard) {
  check_not_empty(*this, path_);
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

NpzWriter::NpzWriter(const std::string& path) : path_(path) {}

void NpzWriter::add(const std::string& name, ElementType type, const std::vector<int64_t>& shape,
                    const void* data) {
  members_.push_back({name + std::string(extension), npy_bytes(type, shape, data)});
}

// The archive is made in memory and written through an AtomicFile, because libzip's own writing replaces
// links, does not flush to the disk, and does not report the reason of a failure in our form.
void NpzWriter::commit() {
  AtomicFile file(path_);
  ZipError error;
  zip_source_t* made = zip_source_buffer_create(nullptr, 0, 0, &error.value);
  if (made == nullptr) fail_to_write(path_, zip_error_strerror(&error.value));
  const std::unique_ptr<zip_source_t, void (*)(zip_source_t*)> bytes(made, zip_source_free);
  zip_source_keep(made);  // one for the archive, one for us
  std::unique_ptr<zip, void (*)(zip*)> archive(zip_open_from_source(made, ZIP_TRUNCATE, &error.value),
                                               zip_discard);
  if (!archive) {
    zip_source_free(made);
    fail_to_write(path_, zip_error_strerror(&error.value));
  }
  for (const Member& member : members_) {
    zip_source_t* source = zip_source_buffer(archive.get(), member.bytes.data(), member.bytes.size(), 0);
    const zip_int64_t index = zip_file_add(archive.get(), member.file.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      zip_source_free(source);
      fail_to_write(path_, zip_strerror(archive.get()));
    }
    const auto entry = static_cast<zip_uint64_t>(index);
    constexpr zip_uint16_t first_of_january_1980 = (1U << 5U) | 1U;  // where zip's calendar begins
    constexpr zip_uint32_t level = 6;  // libzip's own choice, 9, takes several times as long for little
    if (zip_set_file_compression(archive.get(), entry, ZIP_CM_DEFLATE, level) != 0 ||
        zip_file_set_dostime(archive.get(), entry, 0, first_of_january_1980, 0) != 0)
      fail_to_write(path_, zip_strerror(archive.get()));
  }
  if (zip_close(archive.get()) != 0) fail_to_write(path_, zip_strerror(archive.get()));
  static_cast<void>(archive.release());  // closing freed it

  if (zip_source_open(made) != 0) fail_to_write(path_, zip_error_strerror(zip_source_error(made)));
  std::vector<char> chunk(size_t{1} << 20);
  zip_int64_t got = 0;
  while ((got = zip_source_read(made, chunk.data(), chunk.size())) > 0)
    file.write(chunk.data(), static_cast<size_t>(got));
  zip_source_close(made);
  if (got < 0) fail_to_write(path_, zip_error_strerror(zip_source_error(made)));
  file.commit();
}

}  // namespace eignn

#else  // without libzip

namespace eignn {

NpzReader::NpzReader(const std::string& path) : NpzReader(std::string_view(), path) {}

NpzReader::NpzReader(std::string_view, const std::string& origin)
    : path_(origin), archive_(nullptr, [](zip*) {}) {
  throw ResourceError("this build cannot read .npz", origin,
                      "rebuild it with libzip, or use a .mtx file, an edge list, or the folder that unzip "
                      "makes of it");
}

NpzWriter::NpzWriter(const std::string& path) : path_(path) {
  throw ResourceError("this build cannot write .npz", path,
                      "rebuild it with libzip, or write a folder of .npy files");
}

void NpzWriter::add(const std::string&, ElementType, const std::vector<int64_t>&, const void*) {}
void NpzWriter::commit() {}

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
