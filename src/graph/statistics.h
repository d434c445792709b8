// Statistics of labelled graphs, for `inspect`.
#pragma once

#include <cstdint>
#include <vector>

#include "eignn/graph.h"

namespace eignn {

/// The fraction of undirected edges (no loops) with known labels whose ends share a label.
double edge_homophily(const Graph& graph, const std::vector<int64_t>& labels);

/// For each node the fraction of its neighbours (undirected, no loops, known labels) that share its label;
/// the mean over nodes that have such neighbours.
double node_homophily(const Graph& graph, const std::vector<int64_t>& labels);

}  // namespace eignn
