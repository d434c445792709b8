// A 128-bit hash of content, which names cache files and detects damage. Not cryptographic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "eignn/propagation.h"

namespace eignn {

class ContentHash {
 public:
  void add(const void* data, size_t bytes);
  template <class T>
  void add(const std::vector<T>& v) {
    add(v.data(), v.size() * sizeof(T));
  }
  std::string hex() const;  // 32 digits

 private:
  void mix(uint64_t word);
  uint64_t a_ = 0x9e3779b97f4a7c15, b_ = 0xc2b2ae3d27d4eb4f, length_ = 0;
};

/// Equal for equal matrices S, entry for entry.
std::string content_hash(const Propagation& S);

}  // namespace eignn
