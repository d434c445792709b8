#include <algorithm>

#include "eignn/graph.h"

namespace eignn {

namespace {

// Breadth-first from `start` over a symmetric graph: fills `order` with the nodes reached, nearest first, and
// `distance` with their hops. `distance` is -1 on entry for every node of the component.
void breadth_first(const Graph& graph, int64_t start, std::vector<int64_t>& distance,
                   std::vector<int64_t>& order) {
  order.assign(1, start);
  distance[start] = 0;
  for (size_t head = 0; head < order.size(); ++head) {
    const int64_t v = order[head];
    for (int64_t a = graph.row_begin[v]; a < graph.row_begin[v + 1]; ++a) {
      const int64_t w = graph.target[a];
      if (distance[w] >= 0) continue;
      distance[w] = distance[v] + 1;
      order.push_back(w);
    }
  }
}

}  // namespace

Components weak_components(const Graph& graph) {
  const Graph both_ways = graph.symmetrised();
  Components components;
  components.label.assign(graph.nodes, -1);
  std::vector<int64_t> distance(graph.nodes, -1), order;
  for (int64_t v = 0; v < graph.nodes; ++v) {
    if (distance[v] >= 0) continue;
    breadth_first(both_ways, v, distance, order);
    for (int64_t w : order) components.label[w] = components.count;
    ++components.count;
  }
  return components;
}

std::vector<std::vector<int64_t>> Components::members() const {
  std::vector<std::vector<int64_t>> nodes(count);
  for (size_t v = 0; v < label.size(); ++v) nodes[label[v]].push_back(static_cast<int64_t>(v));
  return nodes;
}

int64_t longest_hops(const Graph& graph) {
  const Graph both_ways = graph.symmetrised();
  std::vector<int64_t> first(graph.nodes, -1), second(graph.nodes, -1), order;
  int64_t longest = 0;
  for (int64_t v = 0; v < graph.nodes; ++v) {
    if (first[v] >= 0) continue;
    breadth_first(both_ways, v, first, order);
    breadth_first(both_ways, order.back(), second, order);
    longest = std::max(longest, second[order.back()]);
  }
  return longest;
}

}  // namespace eignn
