#include "graph/grouping.h"

#include <cstddef>

namespace eignn {

std::vector<std::vector<int64_t>> Grouping::members() const {
  std::vector<std::vector<int64_t>> out(static_cast<size_t>(groups));
  for (size_t v = 0; v < group_of.size(); ++v)
    out[static_cast<size_t>(group_of[v])].push_back(static_cast<int64_t>(v));
  return out;
}

Graph induced_graph(const Graph& graph, const std::vector<int64_t>& nodes) {
  std::vector<int64_t> local(static_cast<size_t>(graph.nodes), -1), source, target;
  std::vector<double> weight;
  for (size_t k = 0; k < nodes.size(); ++k) local[nodes[k]] = static_cast<int64_t>(k);
  for (const int64_t v : nodes)
    for (int64_t a = graph.row_begin[v]; a < graph.row_begin[v + 1]; ++a) {
      const int64_t to = local[graph.target[a]];
      if (to < 0) continue;
      source.push_back(local[v]);
      target.push_back(to);
      if (!graph.weight.empty()) weight.push_back(graph.weight[a]);
    }
  return Graph::from_arcs(static_cast<int64_t>(nodes.size()), source, target, weight);
}

EdgeCount count_edges(const Graph& graph, const std::vector<int64_t>& group_of) {
  const Graph both_ways = graph.symmetrised();
  EdgeCount out;
  for (int64_t v = 0; v < both_ways.nodes; ++v)
    for (int64_t a = both_ways.row_begin[v]; a < both_ways.row_begin[v + 1]; ++a) {
      const int64_t u = both_ways.target[a];
      if (u <= v) continue;
      const bool within = group_of[v] == group_of[u];
      ++out.edges;
      out.within += within;
      out.weight += both_ways.weight_of(a);
      out.weight_within += within ? both_ways.weight_of(a) : 0;
    }
  return out;
}

}  // namespace eignn
