// The connected components of S, equal ones told once: 40 chains of 100 nodes are one problem of size 100.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "eignn/propagation.h"
#include "graph/content_hash.h"

namespace eignn {

/// Components whose matrices are equal entry for entry, in the order of their nodes.
struct ComponentKind {
  Propagation S;                                // of one of them, in its own numbering
  std::vector<std::vector<int64_t>> instances;  // the nodes of each, in that numbering
};

/// Ordered by size, then by first appearance. `hash` finds the candidates, and all numbers of their matrices
/// decide.
std::vector<ComponentKind> unique_components(
    const Propagation& S, const std::function<std::string(const Propagation&)>& hash = content_hash);

/// S among `nodes` alone, in their order: whole components, so that no entry leads out of them.
Propagation restricted(const Propagation& S, const std::vector<int64_t>& nodes);

}  // namespace eignn
