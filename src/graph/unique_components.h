// The connected components of S, equal ones told once: 40 chains of 100 nodes are one problem of size 100.
#pragma once

#include <vector>

#include "eignn/propagation.h"

namespace eignn {

/// Components whose matrices are equal entry for entry, in the order of their nodes.
struct ComponentKind {
  Propagation S;                                // of one of them, in its own numbering
  std::vector<std::vector<int64_t>> instances;  // the nodes of each, in that numbering
};

/// Ordered by size, then by first appearance.
std::vector<ComponentKind> unique_components(const Propagation& S);

/// S among `nodes` alone, in their order: whole components, so that no entry leads out of them.
Propagation restricted(const Propagation& S, const std::vector<int64_t>& nodes);

}  // namespace eignn
