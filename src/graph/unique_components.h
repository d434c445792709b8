// The connected components of S, grouped by equality: 40 chains of 100 nodes are one problem of size 100.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "eignn/propagation.h"
#include "graph/content_hash.h"

namespace eignn {

/// Components whose matrices are equal entry for entry, with the nodes of each in ascending order.
struct ComponentKind {
  Propagation S;                                // of one of them, with nodes numbered from 0
  std::vector<std::vector<int64_t>> instances;  // the nodes of each; node k of S is instances[i][k]
};

/// Ordered by size, then by first appearance. `hash` finds candidates, whose matrices are then compared.
std::vector<ComponentKind> unique_components(
    const Propagation& S, const std::function<std::string(const Propagation&)>& hash = content_hash);

/// The block of S for `nodes`, in their order. They must be whole components, so that no entry leads out of
/// them.
Propagation restricted(const Propagation& S, const std::vector<int64_t>& nodes);

}  // namespace eignn
