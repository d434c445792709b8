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
  /// How many there were before duplicates were merged, in a file that has distinct arcs; -1: as many.
  int64_t arcs_in_file = -1;

  /// As many as the data had.
  int64_t counted_in_file() const {
    return arcs_in_file < 0 ? static_cast<int64_t>(source.size()) : arcs_in_file;
  }
};

}  // namespace eignn
