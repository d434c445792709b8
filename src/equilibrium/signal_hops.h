// How far a signal has to travel, for the planner: in hops, where an arc of small weight counts for several.
#pragma once

#include <cstdint>
#include <vector>

#include "eignn/propagation.h"

namespace eignn {

/// The factor r < 1 by which a signal falls per hop along a path without weights, r + 1/r = 3/a - 1, where it
/// falls fastest: all eigenvalues of g are equal, a = γ/√m. 1 for γ = 1 and m = 1.
double decay_per_hop(double gamma, double width);

/// The largest distance of a node from its nearest source, arcs read both ways; nodes that no source reaches
/// are ignored. An arc of equal or larger weight than its neighbours is one hop; one whose entry of S is
/// smaller than equal weights would make it by the factor f takes off the signal of log f / log r hops more.
int64_t farthest_hops(const Propagation& S, const std::vector<int64_t>& sources, double decay);

/// A lower bound of the same between any two nodes of a component, as longest_hops().
int64_t longest_signal_hops(const Propagation& S, double decay);

}  // namespace eignn
