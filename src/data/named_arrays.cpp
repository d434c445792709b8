// In a folder the array `edges` is the file edges.npy; other files are ignored. For archives see npz.cpp.
#include "data/named_arrays.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstring>

#include "data/atomic_file.h"
#include "data/text_lines.h"

namespace eignn {
namespace {

constexpr std::string_view extension = ".npy";

bool is_folder_path(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool is_regular_file(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

std::string file_of(const std::string& folder, const std::string& name) {
  return fmt::format("{}/{}{}", folder, name, extension);
}

}  // namespace

NamedArrays::NamedArrays(const std::string& path) : path_(path) {
  if (!is_folder_path(path)) archive_.emplace(path);
}

NamedArrays::NamedArrays(std::string_view archive, const std::string& origin)
    : path_(origin), archive_(std::in_place, archive, origin) {}

bool NamedArrays::has(const std::string& name) const {
  return archive_ ? archive_->has(name) : is_regular_file(file_of(path_, name));
}

std::vector<std::string> NamedArrays::names() const {
  if (archive_) return archive_->names();
  std::vector<std::string> result;
  for (const std::string& file : names_in_folder(path_)) {
    if (file.size() <= extension.size()) continue;
    const size_t stem = file.size() - extension.size();
    if (file.substr(stem) == extension) result.push_back(file.substr(0, stem));
  }
  return result;
}

Array NamedArrays::read(const std::string& name) const {
  if (archive_) return archive_->read(name);
  if (!has(name)) {
    std::string present;
    for (const std::string& other : names()) present += (present.empty() ? "" : ", ") + quote(other);
    refuse(fmt::format("no array {} among {}", quote(name), present.empty() ? "none" : present), path_,
           fmt::format("save it as {}{}", name, extension));
  }
  return read_npy(file_of(path_, name));
}

bool is_named_arrays(const std::string& path) {
  if (is_folder_path(path)) return true;
  if (!is_regular_file(path)) return false;
  const FileHandle file = open_for_reading(path);
  char start[4] = {};
  return std::fread(start, 1, sizeof(start), file.get()) == sizeof(start) &&
         std::memcmp(start, "PK\x03\x04", sizeof(start)) == 0;
}

}  // namespace eignn
