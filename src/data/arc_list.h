#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace eignn {

/// The arcs of a graph file, 0-based, in file order, with loops and duplicates as the file has them.
struct ArcList {
  int64_t nodes = -1;  ///< -1: the file does not state it
  std::vector<int64_t> source;
  std::vector<int64_t> target;      ///< as long as `source`; arc k runs from source[k] to target[k]
  std::vector<double> weight = {};  ///< of each arc, as the file has it; empty: the file has none
  /// Whether the weights count only for those who ask for them: the values of a Matrix Market file or of a
  /// gnn-benchmark matrix, which often are no weights. take_weights() decides.
  bool weight_on_request = false;
  std::string weight_origin = {};  ///< the file that the weights are in, for messages
  /// The first weight of a text that cannot be one: what is wrong with it, and its line. It is refused when
  /// the weights are taken, not before.
  std::string bad_weight = {}, bad_weight_place = {};
};

}  // namespace eignn
