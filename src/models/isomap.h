// Where the nodes of a graph lie in a plane in which its hops are distances.
#pragma once

#include <torch/types.h>

#include "eignn/graph.h"

namespace eignn {

/// Isomap (Tenenbaum, de Silva, Langford, 2000) of the hops between the nodes, arcs read both ways: positions
/// (n, dimensions), float64, of each component by itself and centred. The distances of hops come from
/// breadth-first searches; classical scaling takes the leading eigenvectors of -½ J D² J, times the roots of
/// their eigenvalues. O(n_c (n_c + arcs_c)) and n_c² numbers for a component of n_c nodes.
torch::Tensor isomap(const Graph& graph, int64_t dimensions = 2);

}  // namespace eignn
