// Smaller graphs in the place of a large one: parts without the edges between them, or clusters of nodes.
//
// An edge is a pair of nodes that an arc joins in either direction, and its weight the larger of the two; a
// loop is none.
#pragma once

#include <cstdint>
#include <vector>

#include "eignn/graph.h"

namespace eignn {

/// The group of each node, numbered from 0 by their smallest node; none is empty.
struct Grouping {
  int64_t groups = 0;
  std::vector<int64_t> group_of;

  /// The nodes of each group, ascending.
  std::vector<std::vector<int64_t>> members() const;
};

/// Parts of about equally many nodes with little weight between them. Where whole components can be put
/// together to parts that differ by a twentieth at most, no edge is cut; otherwise METIS cuts the graph (its
/// k-way method, with a fixed seed). It may leave a part empty: then there are fewer.
/// ArgumentError{"partition"} unless 1 ≤ parts ≤ nodes; ResourceError where METIS is needed and this build
/// has none, or METIS fails.
Grouping partition_graph(const Graph& graph, int64_t parts);

/// Clusters of neighbours, `most` of them where the graph has edges enough. In rounds, pairs of clusters are
/// merged by a matching that takes the heaviest edge first, of equally heavy ones that between clusters of
/// fewer nodes, then of fewer neighbours; edges between merged clusters add up. Where a matching leaves more
/// than nine tenths of the clusters (many leaves of one hub), clusters left over with the same heaviest
/// neighbour are merged too. ArgumentError{"coarsen"} for most < 1.
Grouping heavy_edge_clusters(const Graph& graph, int64_t most);

/// Cᵀ A C for the 0/1 matrix C of these clusters: arcs between clusters add up, and those within one become
/// its loop, which also gets `own` for each node beyond the first. (With A + I in mind: the I that is added
/// to the coarse graph stands for one node of each cluster.)
Graph coarse_graph(const Graph& graph, const Grouping& clusters, double own);

/// The arcs among `nodes` (ascending), renumbered.
Graph induced_graph(const Graph& graph, const std::vector<int64_t>& nodes);

/// The edges of a graph, and those whose ends are in one group.
struct EdgeCount {
  int64_t edges = 0, within = 0;
  double weight = 0, weight_within = 0;
};
EdgeCount count_edges(const Graph& graph, const std::vector<int64_t>& group_of);

}  // namespace eignn
