// What `inspect` says of a labelled graph.
#pragma once

#include <cstdint>
#include <vector>

#include "eignn/graph.h"

namespace eignn {

/// The fraction of undirected edges (no loops) whose ends share a label.
double edge_homophily(const Graph& graph, const std::vector<int64_t>& labels);

/// The mean over nodes with a neighbour of the fraction of neighbours (undirected, no loops) that share its
/// label.
double node_homophily(const Graph& graph, const std::vector<int64_t>& labels);

}  // namespace eignn
