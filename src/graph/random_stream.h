// Independent random streams from one seed, so that the split does not change when the model draws another
// number.
#pragma once

#include <cstdint>

namespace eignn {

enum class Stream : uint64_t {
  split = 1,
  start = 2,
  dropout = 3,
  noise = 4,
  batches = 5,
  graph = 6,
  attack = 7,
  conformal = 8,
  explain = 9,
  search = 10,
  label_inputs = 11,  // of a step of training
  label_halves = 12
};

/// The seed of a stream at a step: SplitMix64's finaliser of (seed, stream, step).
inline uint64_t stream_seed(uint64_t seed, Stream stream, uint64_t step = 0) {
  uint64_t x = seed + 0x9e3779b97f4a7c15 * (static_cast<uint64_t>(stream) + 1) + 0xd1342543de82ef95 * step;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace eignn
