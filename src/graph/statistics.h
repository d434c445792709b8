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

/// Edge homophily beyond chance (Platonov et al., 2023): (h - Σ_c s_c²) / (1 - Σ_c s_c²), where h is the
/// share of arcs between known nodes of one class and s_c the share of arc ends in class c. 1: arcs never
/// leave a class; about 0: classes say nothing about neighbours' classes. NaN where fewer than `least_arcs`
/// arcs join known nodes, or all of those are of one class.
double adjusted_homophily(const Graph& graph, const std::vector<int64_t>& labels, int64_t least_arcs = 1);

/// The share of arcs, loops not counted, whose reverse is there too; 1 without arcs.
double reciprocity(const Graph& graph);

/// Whether the arcs read like undirected edges: every arc is answered, or every pair is written once, always
/// with the smaller node first or always with the larger.
bool reads_undirected(const Graph& graph);

}  // namespace eignn
