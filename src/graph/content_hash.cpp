#include "graph/content_hash.h"

#include <fmt/format.h>

#include <cstring>

namespace eignn {

namespace {
uint64_t rotate(uint64_t x, int by) {
  return (x << by) | (x >> (64 - by));
}
uint64_t avalanche(uint64_t x) {  // every input bit reaches every output bit
  x ^= x >> 31;
  x *= 0x7fb5d329728ea185;
  x ^= x >> 27;
  x *= 0x81dadef4bc2dd44d;
  return x ^ (x >> 33);
}
}  // namespace

// Two running words with different multipliers; for a fixed input each is an invertible function of its
// state.
void ContentHash::mix(uint64_t word) {
  a_ = rotate(a_ ^ word, 29) * 0xbf58476d1ce4e5b9;
  b_ = rotate(b_ + word, 37) * 0x94d049bb133111eb + 1;
}

void ContentHash::add(const void* data, size_t bytes) {
  const auto* at = static_cast<const unsigned char*>(data);
  length_ += bytes;
  for (; bytes >= 8; at += 8, bytes -= 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    mix(word);
  }
  uint64_t rest = 0;
  if (bytes > 0) std::memcpy(&rest, at, bytes);
  mix(rest ^ (uint64_t(bytes) << 56));
}

std::string ContentHash::hex() const {
  return fmt::format("{:016x}{:016x}", avalanche(a_ ^ rotate(b_, 17) ^ length_),
                     avalanche(b_ + a_ + ~length_));
}

std::string content_hash(const Propagation& S) {
  ContentHash hash;
  hash.add(&S.nodes, sizeof S.nodes);
  hash.add(S.row_begin);
  hash.add_ids(S.column);
  int64_t row = 0;
  hash.add_words(S.entries(), [&](int64_t e) {
    while (e >= S.row_begin[row + 1]) ++row;
    const double weight = S.weight_of(row, e);
    uint64_t bits;
    std::memcpy(&bits, &weight, sizeof bits);
    return bits;
  });
  hash.add(S.left);
  hash.add(S.right);
  return hash.hex();
}

}  // namespace eignn
