#include "graph/statistics.h"

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

}  // namespace eignn
