#include "graph/structural_features.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace eignn {

namespace {

// Both arcs of each edge, without loops and weights.
Graph simple_graph(const Graph& graph) {
  Graph pattern;
  pattern.nodes = graph.nodes;
  pattern.row_begin = graph.row_begin;
  pattern.target = graph.target;
  const Graph both = pattern.symmetrised();
  Graph out;
  out.nodes = both.nodes;
  out.row_begin.reserve(both.row_begin.size());
  out.target.reserve(both.target.size());
  for (int64_t v = 0; v < both.nodes; ++v) {
    for (int64_t a = both.row_begin[v]; a < both.row_begin[v + 1]; ++a)
      if (both.target[a] != v) out.target.push_back(both.target[a]);
    out.row_begin.push_back(static_cast<int64_t>(out.target.size()));
  }
  return out;
}

int64_t degree(const Graph& graph, int64_t v) {
  return graph.row_begin[v + 1] - graph.row_begin[v];
}

// Batagelj and Zaveršnik: nodes leave in the order of their remaining degrees, kept sorted by buckets.
std::vector<int64_t> core_numbers(const Graph& graph) {
  const int64_t n = graph.nodes;
  std::vector<int64_t> core(n), place(n), order(n);
  int64_t most = 0;
  for (int64_t v = 0; v < n; ++v) most = std::max(most, core[v] = degree(graph, v));
  std::vector<int64_t> begin(most + 2, 0);  // of each remaining degree in `order`
  for (int64_t v = 0; v < n; ++v) ++begin[core[v] + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<int64_t> cursor(begin.begin(), begin.end() - 1);
  for (int64_t v = 0; v < n; ++v) order[place[v] = cursor[core[v]]++] = v;
  for (int64_t k = 0; k < n; ++k) {
    const int64_t v = order[k];
    for (int64_t a = graph.row_begin[v]; a < graph.row_begin[v + 1]; ++a) {
      const int64_t u = graph.target[a];
      if (core[u] <= core[v]) continue;
      // u swaps places with the first of its bucket, which then begins one later.
      const int64_t first = std::max(begin[core[u]], k + 1), w = order[first];
      std::swap(order[first], order[place[u]]);
      std::swap(place[w], place[u]);
      begin[core[u]] = first + 1;
      --core[u];
    }
  }
  return core;
}

// Σ over the triangles of each node of 1 / (the degrees of all three): each edge is directed to the end of
// larger degree, so that no node has more than sqrt(2 · edges) successors, and two lists are intersected.
std::vector<double> triangle_sums(const Graph& graph) {
  const int64_t n = graph.nodes;
  const auto before = [&](int64_t a, int64_t b) {
    const int64_t x = degree(graph, a), y = degree(graph, b);
    return x != y ? x < y : a < b;
  };
  std::vector<int64_t> begin = {0}, head;
  begin.reserve(n + 1);
  for (int64_t v = 0; v < n; ++v) {
    for (int64_t a = graph.row_begin[v]; a < graph.row_begin[v + 1]; ++a)
      if (before(v, graph.target[a])) head.push_back(graph.target[a]);
    begin.push_back(static_cast<int64_t>(head.size()));
  }
  std::vector<double> sum(n, 0);
  for (int64_t v = 0; v < n; ++v)
    for (int64_t a = begin[v]; a < begin[v + 1]; ++a) {
      const int64_t u = head[a];
      int64_t i = begin[v], j = begin[u];
      while (i < begin[v + 1] && j < begin[u + 1]) {
        if (head[i] < head[j]) {
          ++i;
        } else if (head[i] > head[j]) {
          ++j;
        } else {
          const int64_t w = head[i];
          const double term =
              1 / (static_cast<double>(degree(graph, v)) * static_cast<double>(degree(graph, u)) *
                   static_cast<double>(degree(graph, w)));
          for (const int64_t node : {v, u, w}) sum[node] += term;
          ++i;
          ++j;
        }
      }
    }
  return sum;
}

}  // namespace

StructuralFeatures structural_features(const Graph& given) {
  const Graph graph = simple_graph(given);
  StructuralFeatures out;
  out.names = {"log degree", "log core number", "neighbours' log degree", "return in 2 steps",
               "return in 3 steps"};
  const size_t m = out.names.size();
  out.values.assign(static_cast<size_t>(graph.nodes) * m, 0);
  const std::vector<int64_t> core = core_numbers(graph);
  const std::vector<double> triangles = triangle_sums(graph);
  for (int64_t v = 0; v < graph.nodes; ++v) {
    double* row = &out.values[static_cast<size_t>(v) * m];
    const auto d = static_cast<double>(degree(graph, v));
    row[0] = std::log1p(d);
    row[1] = std::log1p(static_cast<double>(core[v]));
    for (int64_t a = graph.row_begin[v]; a < graph.row_begin[v + 1]; ++a) {
      const auto of_neighbour = static_cast<double>(degree(graph, graph.target[a]));
      row[2] += std::log1p(of_neighbour) / d;
      row[3] += 1 / (d * of_neighbour);
    }
    row[4] = 2 * triangles[v];  // both ways around
  }
  return out;
}

}  // namespace eignn
