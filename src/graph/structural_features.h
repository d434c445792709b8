// Features of the graph itself, for graphs without others.
#pragma once

#include <string>
#include <vector>

#include "eignn/graph.h"

namespace eignn {

/// Of each node, with the arcs read both ways and without loops, weights or directions:
///
///   log degree               log(1 + its neighbours)
///   log core number          log(1 + k) for the largest k such that it is in a part of the graph where every
///                            node has k neighbours within
///   neighbours' log degree   the mean over its neighbours; 0 without any
///   return in 2 steps        the probability that a walk, each step to a random neighbour, is back after two
///   return in 3 steps        and after three, around a triangle
///
/// All are local, or nearly so, and depend on no order of the nodes: what is learned from them holds for
/// nodes that come later and for other graphs. Costs O(arcs^1.5), the triangles.
struct StructuralFeatures {
  std::vector<std::string> names;
  std::vector<double> values;  // (nodes, names) row by row
};
StructuralFeatures structural_features(const Graph& graph);

}  // namespace eignn
