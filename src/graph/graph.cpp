#include "eignn/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "eignn/error.h"

namespace eignn {

namespace {

// Buckets the arcs by source (counting sort), then sorts and merges each short row.
Graph build(int64_t nodes, const std::vector<int64_t>& source, const std::vector<int64_t>& target) {
  std::vector<int64_t> begin(nodes + 1, 0);
  for (int64_t s : source) ++begin[s + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<int64_t> bucket(target.size());
  std::vector<int64_t> cursor(begin.begin(), begin.end() - 1);
  for (size_t a = 0; a < source.size(); ++a) bucket[cursor[source[a]]++] = target[a];

  Graph graph;
  graph.nodes = nodes;
  graph.row_begin.reserve(nodes + 1);
  graph.target.reserve(target.size());
  for (int64_t v = 0; v < nodes; ++v) {
    auto first = bucket.begin() + begin[v], last = bucket.begin() + begin[v + 1];
    std::sort(first, last);
    graph.target.insert(graph.target.end(), first, std::unique(first, last));
    graph.row_begin.push_back(graph.arcs());
  }
  return graph;
}

std::vector<int64_t> sources(const Graph& graph) {
  std::vector<int64_t> source(graph.target.size());
  for (int64_t v = 0; v < graph.nodes; ++v)
    std::fill(source.begin() + graph.row_begin[v], source.begin() + graph.row_begin[v + 1], v);
  return source;
}

}  // namespace

Graph Graph::from_arcs(int64_t nodes, const std::vector<int64_t>& source,
                       const std::vector<int64_t>& target) {
  if (nodes < 0 || source.size() != target.size())
    throw InputError(fmt::format("{} sources and {} targets for {} nodes (arcs); give one target per source",
                                 source.size(), target.size(), nodes));
  for (size_t a = 0; a < source.size(); ++a)
    for (int64_t end : {source[a], target[a]})
      if (end < 0 || end >= nodes)
        throw InputError(fmt::format("node {} does not exist (arc {}: {} -> {}); ids run from 0 to {}", end,
                                     a, source[a], target[a], nodes - 1));
  return build(nodes, source, target);
}

Graph Graph::symmetrised() const {
  std::vector<int64_t> tail = sources(*this), head = target;
  head.insert(head.end(), tail.begin(), tail.end());
  tail.insert(tail.end(), target.begin(), target.end());
  return build(nodes, tail, head);
}

Graph Graph::transposed() const {
  return build(nodes, target, sources(*this));
}

int64_t Graph::loops() const {
  int64_t count = 0;
  for (int64_t v = 0; v < nodes; ++v)
    count += std::binary_search(target.begin() + row_begin[v], target.begin() + row_begin[v + 1], v);
  return count;
}

int64_t Graph::undirected_edges() const {
  return (symmetrised().arcs() - loops()) / 2;
}

int64_t Graph::isolated() const {
  std::vector<char> touched(nodes, 0);
  for (int64_t v = 0; v < nodes; ++v)
    for (int64_t a = row_begin[v]; a < row_begin[v + 1]; ++a)
      if (target[a] != v) touched[v] = touched[target[a]] = 1;
  return std::count(touched.begin(), touched.end(), 0);
}

bool Graph::is_symmetric() const {
  const Graph turned = transposed();
  return turned.row_begin == row_begin && turned.target == target;
}

}  // namespace eignn
