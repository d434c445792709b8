#include "eignn/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "eignn/error.h"
#include "graph/check_rows.h"
#include "graph/merged_rows.h"
#include "graph/within_memory.h"

namespace eignn {

namespace {

// Offsets of rows whose lengths are counted at begin[v + 1].
void add_up(std::vector<int64_t>& begin) {
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
}

// Sorts the arcs by source (counting sort), then sorts each row and removes duplicates, all in the memory of
// the result: 4 bytes an arc.
Graph build(int64_t nodes, const std::vector<int64_t>& source, const std::vector<int64_t>& target) {
  std::vector<int64_t> begin(nodes + 1, 0);
  for (int64_t s : source) ++begin[s + 1];
  add_up(begin);
  Graph graph;
  graph.nodes = nodes;
  graph.target.resize(target.size());
  {
    std::vector<int64_t> cursor(begin.begin(), begin.end() - 1);
    for (size_t a = 0; a < source.size(); ++a)
      graph.target[cursor[source[a]]++] = static_cast<int32_t>(target[a]);
  }
  auto end = graph.target.begin();
  for (int64_t v = 0; v < nodes; ++v) {
    const auto first = graph.target.begin() + begin[v], last = graph.target.begin() + begin[v + 1];
    begin[v] = end - graph.target.begin();
    std::sort(first, last);
    end = std::copy(first, std::unique(first, last), end);
  }
  begin[nodes] = end - graph.target.begin();
  graph.target.erase(end, graph.target.end());
  graph.row_begin = std::move(begin);
  return graph;
}

// The same for arcs with weights. Those of weight 0 are left out, and weights of duplicates are added up in
// the order of the weights, so that the result does not depend on the order of the arcs.
Graph build(int64_t nodes, const std::vector<int64_t>& source, const std::vector<int64_t>& target,
            const std::vector<double>& weight) {
  struct Arc {
    int64_t target;
    double weight;
    bool operator<(const Arc& other) const {
      return target != other.target ? target < other.target : weight < other.weight;
    }
  };
  std::vector<int64_t> begin(nodes + 1, 0);
  for (size_t a = 0; a < source.size(); ++a) begin[source[a] + 1] += weight[a] > 0;
  add_up(begin);
  std::vector<Arc> bucket(begin.back());
  std::vector<int64_t> cursor(begin.begin(), begin.end() - 1);
  for (size_t a = 0; a < source.size(); ++a)
    if (weight[a] > 0) bucket[cursor[source[a]]++] = {target[a], weight[a]};

  Graph graph;
  graph.nodes = nodes;
  graph.row_begin.reserve(nodes + 1);
  graph.target.reserve(bucket.size());
  graph.weight.reserve(bucket.size());
  for (int64_t v = 0; v < nodes; ++v) {
    std::sort(bucket.begin() + begin[v], bucket.begin() + begin[v + 1]);
    for (int64_t a = begin[v]; a < begin[v + 1]; ++a) {
      const Arc& arc = bucket[a];
      if (graph.arcs() == graph.row_begin.back() || graph.target.back() != arc.target) {
        graph.target.push_back(static_cast<int32_t>(arc.target));
        graph.weight.push_back(arc.weight);
      } else {
        graph.weight.back() += arc.weight;
      }
      if (graph.weight.back() > std::numeric_limits<double>::max())
        throw ArgumentError("weight",
                            fmt::format("the weights of {} -> {} add up to infinity", v, arc.target),
                            "divide all weights by a large number");
    }
    graph.row_begin.push_back(graph.arcs());
  }
  return graph;
}

}  // namespace

Graph Graph::from_arcs(int64_t nodes, const std::vector<int64_t>& source, const std::vector<int64_t>& target,
                       const std::vector<double>& weight) {
  if (nodes < 0 || nodes > most_nodes)
    throw ArgumentError("nodes", fmt::format("{} is no number of nodes", nodes), "give 0 or more");
  if (source.size() != target.size())
    throw ArgumentError("arcs", fmt::format("{} sources and {} targets", source.size(), target.size()),
                        "give one target per source");
  for (size_t a = 0; a < source.size(); ++a)
    for (int64_t end : {source[a], target[a]})
      if (end < 0 || end >= nodes)
        throw ArgumentError(
            "arcs", fmt::format("node {} does not exist, arc {}: {} -> {}", end, a, source[a], target[a]),
            nodes == 0 ? "this graph has no nodes" : fmt::format("ids run from 0 to {}", nodes - 1));
  if (!weight.empty() && weight.size() != source.size())
    throw ArgumentError("weight", fmt::format("{} weights for {} arcs", weight.size(), source.size()),
                        "give one weight per arc");
  for (size_t a = 0; a < weight.size(); ++a)
    if (!(weight[a] >= 0 && weight[a] <= std::numeric_limits<double>::max()))
      throw ArgumentError(
          "weight",
          fmt::format("the weight {} of arc {}: {} -> {} is no weight", weight[a], a, source[a], target[a]),
          "weights are finite and not negative");
  return within_memory(nodes, static_cast<int64_t>(source.size()), [&] {
    return weight.empty() ? build(nodes, source, target) : build(nodes, source, target, weight);
  });
}

void check_rows(const RowsToCheck& rows) {
  const auto refuse = [&](const char* field, const std::string& problem) {
    throw ArgumentError(fmt::format("{}.{}", rows.owner, field), problem, rows.remedy);
  };
  const int64_t nodes = rows.nodes, count = static_cast<int64_t>(rows.target.size());
  const auto& begin = rows.begin;
  if (nodes < 0 || nodes > most_nodes) refuse("nodes", fmt::format("{} is no number of nodes", nodes));
  if (static_cast<int64_t>(begin.size()) != nodes + 1)
    refuse("row_begin", fmt::format("{} offsets for {} nodes", begin.size(), nodes));
  if (begin.front() != 0 || begin.back() != count)
    refuse("row_begin",
           fmt::format("the offsets run from {} to {} over {} entries", begin.front(), begin.back(), count));
  for (int64_t v = 0; v < nodes; ++v) {
    // Each offset is checked before it is used.
    if (begin[v] > begin[v + 1] || begin[v + 1] > count)
      refuse("row_begin", fmt::format("the offsets fall, or leave the entries, at node {}", v));
    int64_t before = -1;
    for (int64_t a = begin[v]; a < begin[v + 1]; ++a) {
      if (rows.target[a] <= before || rows.target[a] >= nodes)
        refuse(rows.target_name,
               fmt::format("row {} does not hold distinct ids from 0 to {}, ascending", v, nodes - 1));
      before = rows.target[a];
    }
  }
}

void check(const Graph& g) {
  const char* remedy = "make the graph with Graph::from_arcs";
  check_rows({g.nodes, g.row_begin, g.target, "graph", "target", remedy});
  if (!g.weight.empty() && g.weight.size() != g.target.size())
    throw ArgumentError("graph.weight", fmt::format("{} weights for {} arcs", g.weight.size(), g.arcs()),
                        remedy);
  for (const double w : g.weight)
    if (!(w > 0 && w <= std::numeric_limits<double>::max()))
      throw ArgumentError("graph.weight", fmt::format("{} is no weight of an arc", w), remedy);
}

Graph Graph::symmetrised() const {
  const Graph turned = transposed();
  Graph out;
  out.nodes = nodes;
  out.row_begin.reserve(row_begin.size());
  out.target.reserve(2 * target.size());
  out.weight.reserve(2 * weight.size());
  for (int64_t v = 0; v < nodes; ++v) {
    merge_row(*this, turned, v, [&](int64_t j, double w) {
      out.target.push_back(static_cast<int32_t>(j));
      if (!weight.empty()) out.weight.push_back(w);
    });
    out.row_begin.push_back(out.arcs());
  }
  return out;
}

// The rows are filled in the order of the sources, so that each ascends.
Graph Graph::transposed() const {
  check(*this);
  Graph out;
  out.nodes = nodes;
  out.row_begin.assign(row_begin.size(), 0);
  for (const int32_t v : target) ++out.row_begin[v + 1];
  add_up(out.row_begin);
  out.target.resize(target.size());
  out.weight.resize(weight.size());
  std::vector<int64_t> cursor(out.row_begin.begin(), out.row_begin.end() - 1);
  for (int64_t v = 0; v < nodes; ++v) {
    for (int64_t a = row_begin[v]; a < row_begin[v + 1]; ++a) {
      const int64_t at = cursor[target[a]]++;
      out.target[at] = static_cast<int32_t>(v);
      if (!weight.empty()) out.weight[at] = weight[a];
    }
  }
  return out;
}

int64_t Graph::loops() const {
  check(*this);
  int64_t count = 0;
  for (int64_t v = 0; v < nodes; ++v)
    count += std::binary_search(target.begin() + row_begin[v], target.begin() + row_begin[v + 1], v);
  return count;
}

int64_t Graph::undirected_edges() const {
  return (symmetrised().arcs() - loops()) / 2;
}

int64_t Graph::isolated() const {
  check(*this);
  std::vector<char> touched(nodes, 0);
  for (int64_t v = 0; v < nodes; ++v)
    for (int64_t a = row_begin[v]; a < row_begin[v + 1]; ++a)
      if (target[a] != v) touched[v] = touched[target[a]] = 1;
  return std::count(touched.begin(), touched.end(), 0);
}

bool Graph::is_symmetric() const {
  const Graph turned = transposed();
  return turned.row_begin == row_begin && turned.target == target && turned.weight == weight;
}

}  // namespace eignn
