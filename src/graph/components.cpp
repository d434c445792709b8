#include <algorithm>
#include <numeric>

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

// Union-find: the smaller root becomes the parent, so that a component's root is its smallest node. No copy
// of the arcs is made.
Components weak_components(const Graph& graph) {
  check(graph);
  std::vector<int64_t> parent(graph.nodes);
  std::iota(parent.begin(), parent.end(), int64_t{0});
  const auto root = [&](int64_t v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  for (int64_t v = 0; v < graph.nodes; ++v)
    for (int64_t a = graph.row_begin[v]; a < graph.row_begin[v + 1]; ++a) {
      const int64_t p = root(v), q = root(graph.target[a]);
      parent[std::max(p, q)] = std::min(p, q);
    }
  Components components;
  components.label.resize(graph.nodes);
  for (int64_t v = 0; v < graph.nodes; ++v)
    components.label[v] = parent[v] == v ? components.count++ : components.label[root(v)];
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
