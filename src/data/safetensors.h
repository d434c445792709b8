#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "data/npy.h"

namespace eignn {

struct TensorBytes {
  ElementType type = ElementType::float64;
  std::vector<int64_t> shape;
  std::vector<unsigned char> bytes;  ///< C order, little endian
};

/// The content of a .safetensors file.
struct SafeTensors {
  std::map<std::string, TensorBytes> tensors;
  std::map<std::string, std::string> metadata;
};

/// A tensor whose bytes are owned elsewhere: by a mapped file, or by a tensor that is to be written.
struct TensorView {
  ElementType type = ElementType::float64;
  std::vector<int64_t> shape;
  const unsigned char* data = nullptr;
  size_t size = 0;  ///< in bytes
};

struct SafeTensorsView {
  std::map<std::string, TensorView> tensors;
  std::map<std::string, std::string> metadata;
};

/// Reads and checks a whole file. DataError for anything that is wrong with it.
SafeTensors read_safetensors(const std::string& path);

/// The same from memory; `origin` names the bytes in messages.
SafeTensors parse_safetensors(std::string_view file, const std::string& origin);

/// The same without copying: the views point into `file`.
SafeTensorsView view_safetensors(std::string_view file, const std::string& origin);

/// Enters a digest of names, types, shapes, bytes and metadata into the metadata, under "digest": what a file
/// says can then be told from what became of it. Any safetensors reader still opens it.
void seal(SafeTensors& content);

/// DataError where the digest is not that of the content, or, when `required`, is missing.
void check_seal(const SafeTensors& content, const std::string& path, bool required);

/// Writes a file that every safetensors reader accepts, atomically. Names and metadata must be UTF-8. The
/// data starts at a multiple of `alignment` bytes; 8 is what the public writer does.
void write_safetensors(const std::string& path, const SafeTensors& content);
void write_safetensors(const std::string& path, const SafeTensorsView& content, size_t alignment = 8);

}  // namespace eignn
