#include "graph/statistics.h"

#include <algorithm>
#include <limits>
#include <map>

namespace eignn {

namespace {

struct Agreement {
  int64_t same = 0, all = 0;
};

std::vector<Agreement> agreements(const Graph& graph, const std::vector<int64_t>& labels) {
  const Graph both_ways = graph.symmetrised();
  std::vector<Agreement> out(graph.nodes);
  for (int64_t v = 0; v < graph.nodes; ++v)
    for (int64_t a = both_ways.row_begin[v]; a < both_ways.row_begin[v + 1]; ++a) {
      const int64_t w = both_ways.target[a];
      if (w == v || labels[v] < 0 || labels[w] < 0) continue;
      ++out[v].all;
      out[v].same += labels[v] == labels[w];
    }
  return out;
}

}  // namespace

double edge_homophily(const Graph& graph, const std::vector<int64_t>& labels) {
  Agreement total;
  for (const Agreement& node : agreements(graph, labels)) {
    total.same += node.same;
    total.all += node.all;
  }
  return total.all > 0 ? static_cast<double>(total.same) / static_cast<double>(total.all) : 0;
}

double node_homophily(const Graph& graph, const std::vector<int64_t>& labels) {
  double sum = 0;
  int64_t nodes = 0;
  for (const Agreement& node : agreements(graph, labels)) {
    if (node.all == 0) continue;
    sum += static_cast<double>(node.same) / static_cast<double>(node.all);
    ++nodes;
  }
  return nodes > 0 ? sum / static_cast<double>(nodes) : 0;
}

double adjusted_homophily(const Graph& graph, const std::vector<int64_t>& labels, int64_t least_arcs) {
  std::map<int64_t, double> ends;  // of arcs between known nodes, by class
  double arcs = 0, same = 0;
  for (int64_t v = 0; v < graph.nodes; ++v)
    for (int64_t a = graph.row_begin[v]; a < graph.row_begin[v + 1]; ++a) {
      const int64_t u = graph.target[a];
      if (u == v || labels[u] < 0 || labels[v] < 0) continue;
      ++arcs;
      same += labels[u] == labels[v];
      ++ends[labels[u]];
      ++ends[labels[v]];
    }
  double by_chance = 0;
  for (const auto& [label, count] : ends) by_chance += count * count / (4 * arcs * arcs);
  if (arcs < static_cast<double>(std::max<int64_t>(1, least_arcs)) || ends.size() < 2)
    return std::numeric_limits<double>::quiet_NaN();
  return (same / arcs - by_chance) / (1 - by_chance);
}

double reciprocity(const Graph& graph) {
  const Graph reversed = graph.transposed();
  int64_t arcs = 0, answered = 0;
  for (int64_t v = 0; v < graph.nodes; ++v) {
    const auto first = reversed.target.begin() + reversed.row_begin[v],
               last = reversed.target.begin() + reversed.row_begin[v + 1];
    for (int64_t a = graph.row_begin[v]; a < graph.row_begin[v + 1]; ++a) {
      if (graph.target[a] == v) continue;
      ++arcs;
      answered += std::binary_search(first, last, graph.target[a]);
    }
  }
  return arcs == 0 ? 1 : static_cast<double>(answered) / static_cast<double>(arcs);
}

bool reads_undirected(const Graph& graph) {
  bool upwards = false, downwards = false;
  for (int64_t v = 0; v < graph.nodes; ++v)
    for (int64_t a = graph.row_begin[v]; a < graph.row_begin[v + 1]; ++a) {
      upwards |= graph.target[a] > v;
      downwards |= graph.target[a] < v;
    }
  return !(upwards && downwards) || reciprocity(graph) == 1;
}

}  // namespace eignn
