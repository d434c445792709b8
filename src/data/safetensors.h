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

/// What a .safetensors file holds.
struct SafeTensors {
  std::map<std::string, TensorBytes> tensors;
  std::map<std::string, std::string> metadata;
};

/// A tensor whose bytes another keeps: a mapped file, or a tensor to be written.
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

/// Reads and checks a whole file; whatever is wrong with it is a DataError.
SafeTensors read_safetensors(const std::string& path);

/// The same from memory; `origin` names the bytes in messages.
SafeTensors parse_safetensors(std::string_view file, const std::string& origin);

/// The same, and no byte is copied: the views point into `file`.
SafeTensorsView view_safetensors(std::string_view file, const std::string& origin);

/// Writes a file that every safetensors reader takes, atomically. Names and metadata must be UTF-8. The data
/// starts at a multiple of `alignment` bytes; 8 is what the public writer does.
void write_safetensors(const std::string& path, const SafeTensors& content);
void write_safetensors(const std::string& path, const SafeTensorsView& content, size_t alignment = 8);

}  // namespace eignn
