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
  /// Words of 64 bits that are not in memory as such: the hash of the vector word(0) … word(count-1).
  template <class Word>
  void add_words(int64_t count, const Word& word) {
    length_ += static_cast<uint64_t>(count) * sizeof(uint64_t);
    for (int64_t k = 0; k < count; ++k) mix(word(k));
    mix(0);
  }
  /// Ids, hashed as numbers of 64 bits.
  void add_ids(const std::vector<int32_t>& ids) {
    add_words(static_cast<int64_t>(ids.size()), [&](int64_t k) { return static_cast<uint64_t>(ids[k]); });
  }
  std::string hex() const;  // 32 digits

 private:
  void mix(uint64_t word);
  uint64_t a_ = 0x9e3779b97f4a7c15, b_ = 0xc2b2ae3d27d4eb4f, length_ = 0;
};

/// Equal for equal matrices S, entry for entry.
std::string content_hash(const Propagation& S);

}  // namespace eignn
