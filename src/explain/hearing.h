// From how far nodes are heard: distances along the arcs of S.
#pragma once

#include <cstdint>
#include <vector>

#include "eignn/propagation.h"

namespace eignn {

/// Distances to nodes of one graph. Node j hears i over one hop where S_ij ≠ 0.
class Hearing {
 public:
  /// S must outlive it.
  explicit Hearing(const Propagation& S);

  /// For each node the hops of the shortest path to `node`; -1 where there is none.
  std::vector<int64_t> hops_to(int64_t node) const;
  /// The same, and for each node with a path the next node on it; the node itself and those without: -1.
  std::vector<int64_t> hops_to(int64_t node, std::vector<int64_t>& next) const;

 private:
  Graph heard_;  // row j has the nodes that j hears; empty for a symmetric S, whose own rows are read
  const Propagation& S_;
};

}  // namespace eignn
