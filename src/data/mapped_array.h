#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "data/mapped_file.h"
#include "data/npy.h"

namespace eignn {

/// A .npy file that is mapped into memory, of which rows are read: what stands at one value of the first
/// index. It must be in C order and little endian, as numpy.save writes arrays unless it is told otherwise.
///
///     MappedArray features("features.npy");
///     Array ten = features.rows(1000, 1010);
class MappedArray {
 public:
  /// Reads the header alone.
  explicit MappedArray(const std::string& path);

  const std::string& path() const { return path_; }
  ElementType type() const { return header_.type; }
  const std::vector<int64_t>& shape() const { return header_.shape; }
  int64_t rows() const { return header_.shape[0]; }
  size_t row_bytes() const { return row_bytes_; }

  /// The bytes of the rows first … last-1.
  std::string_view bytes(int64_t first, int64_t last) const;
  Array rows(int64_t first, int64_t last) const;
  /// The elements of these rows, as Array::as() has them.
  template <class T>
  std::vector<T> values(int64_t first, int64_t last) const {
    if (header_.type != element_type_of<T>()) return rows(first, last).as<T>();
    const std::string_view from = bytes(first, last);
    std::vector<T> out(from.size() / sizeof(T));
    if (!from.empty()) std::memcpy(out.data(), from.data(), from.size());
    return out;
  }

  /// Lets the system drop the pages of these rows, as far as they are there (MappedFile::forget).
  void forget(int64_t first, int64_t last) const;

  /// Whether a .npy file has the order of elements and bytes that can be mapped.
  static bool can_map(const std::string& path);

 private:
  std::string path_;
  MappedFile file_;
  NpyHeader header_;
  size_t row_bytes_ = 0;
};

}  // namespace eignn
