// An order of the nodes in which those that are joined are near each other: a process then fetches fewer rows
// of others, and products with S find more of its own rows in the cache.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/ranks.h"
#include "eignn/graph.h"

namespace eignn {

enum class NodeOrder {
  given,     // as the data have them
  bfs,       // as a breadth-first search comes to them
  ptscotch,  // PTScotch's parts, one for each part of the rows, and in each as a search comes to them
};
const char* name(NodeOrder order);

/// Nodes by their parts (of each node, numbered from 0; empty: all are in one), and within a part in the
/// order of breadth-first searches along its arcs in both directions, each from the lowest node that is left.
/// Entry k is the node that comes k-th.
std::vector<int64_t> breadth_first_order(const Graph& graph, const std::vector<int64_t>& part);

/// The part of each node, of so many, by PTScotch: parts with about equal numbers of entries and few arcs
/// between them. Collective; each process has the whole graph. ResourceError where there are 2^31 arcs or
/// more, which PTScotch cannot count, and where PETSc was built without it.
std::vector<int64_t> ptscotch_parts(const Ranks& ranks, const Graph& graph, int64_t parts);

/// The graph whose k-th node is order[k].
Graph reordered(const Graph& graph, const std::vector<int64_t>& order);

}  // namespace eignn
