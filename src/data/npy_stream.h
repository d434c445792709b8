#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/atomic_file.h"
#include "data/npy.h"
#include "graph/content_hash.h"

namespace eignn {

/// Writes a .npy file whose number of rows is known at the end. The file is written in place: use it in an
/// AtomicFolder.
///
///     NpyStream offsets(folder.path("indptr.0.npy"), ElementType::int64, {});
///     offsets.append(std::vector<int64_t>{0, 3});
///     offsets.finish();  // an array of shape (2,)
class NpyStream {
 public:
  /// An array of the shape (rows, row_shape…).
  NpyStream(const std::string& path, ElementType type, std::vector<int64_t> row_shape);

  /// Whole or broken rows, C-ordered and little endian.
  void append(const void* data, size_t bytes);
  template <class T>
  void append(const std::vector<T>& values) {
    append(values.data(), values.size() * sizeof(T));
  }

  /// Writes the header and flushes the file to the disk. Returns a hash of the elements, which does not
  /// depend on how they were cut into pieces.
  std::string finish();

 private:
  void flush();

  std::string path_;
  ElementType type_;
  std::vector<int64_t> shape_;
  size_t row_bytes_, written_ = 0;
  std::vector<unsigned char> buffer_;
  ContentHash hash_;
  FileHandle file_;
};

}  // namespace eignn
