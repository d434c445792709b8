#include "data/mapped_array.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "data/text_lines.h"

namespace eignn {

namespace {

bool in_our_order(const NpyHeader& header) {
  return !header.big_endian && (!header.fortran_order || header.shape.size() < 2);
}

}  // namespace

MappedArray::MappedArray(const std::string& path)
    : path_(path), file_(path, MappedFile::Read::parts), header_(parse_npy_header(file_.bytes(), path)) {
  if (header_.shape.empty()) refuse("a single number, where an array is needed", path, "save an array");
  if (!in_our_order(header_)) {
    refuse("the array is in Fortran order or big endian", path,
           "save it with numpy.ascontiguousarray, as little endian");
  }
  row_bytes_ = *byte_count(header_.type, {header_.shape.begin() + 1, header_.shape.end()});
}

std::string_view MappedArray::bytes(int64_t first, int64_t last) const {
  if (first < 0 || first > last || last > rows()) throw std::out_of_range("rows of a mapped array");
  return file_.bytes().substr(header_.begin + static_cast<size_t>(first) * row_bytes_,
                              static_cast<size_t>(last - first) * row_bytes_);
}

Array MappedArray::rows(int64_t first, int64_t last) const {
  const std::string_view from = bytes(first, last);
  Array out;
  out.shape = header_.shape;
  out.shape[0] = last - first;
  out.type = header_.type;
  out.bytes.assign(from.begin(), from.end());
  out.origin = path_;
  return out;
}

void MappedArray::forget(int64_t first, int64_t last) const {
  const std::string_view range = bytes(std::min(first, rows()), std::min(last, rows()));
  file_.forget(static_cast<size_t>(range.data() - file_.bytes().data()), range.size());
}

bool MappedArray::can_map(const std::string& path) {
  std::error_code unreadable;
  if (!std::filesystem::is_regular_file(path, unreadable)) return false;  // a pipe
  const MappedFile file(path, MappedFile::Read::parts);
  return is_npy(file.bytes()) && in_our_order(parse_npy_header(file.bytes(), path));
}

}  // namespace eignn
