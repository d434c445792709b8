// An embedding of the nodes of a graph in which distances approximate hops.
#pragma once

#include <torch/types.h>

#include "eignn/graph.h"

namespace eignn {

/// Isomap (Tenenbaum, de Silva, Langford, 2000) of the hop distances between the nodes, arcs read both ways:
/// positions (n, dimensions) in float64, centred for each component separately. The distances D come from
/// breadth-first searches; the coordinates are the leading eigenvectors of -½ J D² J times the roots of their
/// eigenvalues (classical scaling). O(n_c (n_c + arcs_c)) and n_c² numbers for a component of n_c nodes.
/// ResourceError for a component of more than 25 000 nodes.
torch::Tensor isomap(const Graph& graph, int64_t dimensions = 2);

}  // namespace eignn
