#pragma once

#include <cstdint>
#include <vector>

namespace eignn {

/// The arcs of a graph file, 0-based, in file order, with loops and duplicates as the file has them.
struct ArcList {
  int64_t nodes = -1;  ///< -1: the file does not state it
  std::vector<int64_t> source;
  std::vector<int64_t> target;  ///< as long as `source`; arc k runs from source[k] to target[k]
  std::vector<double> weight = {};  ///< of each arc, as the file has it; empty: the file has none
};

}  // namespace eignn
