// Coarsening by heavy-edge matching, as multilevel partitioning does it (Karypis and Kumar, 1998).
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "eignn/error.h"
#include "graph/grouping.h"

namespace eignn {

namespace {

// The clusters of one round: their edges without loops, both ways, and how many nodes each has.
struct Round {
  Graph graph;
  std::vector<int64_t> size;

  int64_t clusters() const { return graph.nodes; }
  int64_t neighbours(int64_t v) const { return graph.row_begin[v + 1] - graph.row_begin[v]; }
};

Round first_round(const Graph& graph) {
  const Graph both_ways = graph.symmetrised();
  std::vector<int64_t> source, target;
  std::vector<double> weight;
  for (int64_t v = 0; v < both_ways.nodes; ++v)
    for (int64_t a = both_ways.row_begin[v]; a < both_ways.row_begin[v + 1]; ++a) {
      if (both_ways.target[a] == v) continue;
      source.push_back(v);
      target.push_back(both_ways.target[a]);
      weight.push_back(both_ways.weight_of(a));
    }
  return {Graph::from_arcs(graph.nodes, source, target, weight),
          std::vector<int64_t>(static_cast<size_t>(graph.nodes), 1)};
}

struct Edge {
  double weight;
  int64_t size, neighbours;  // of both ends together
  int64_t u, v;

  // Whether it is taken before another one.
  bool operator<(const Edge& other) const {
    return std::tie(other.weight, size, neighbours, u, v) <
           std::tie(weight, other.size, other.neighbours, other.u, other.v);
  }
};

// The partner of each cluster in a matching of at most `merges` pairs; itself where it has none.
class Matching {
 public:
  Matching(const Round& round, int64_t merges) : round_(round), left_(merges), partner_(round.size.size()) {
    std::iota(partner_.begin(), partner_.end(), 0);
    along_edges();
    constexpr int64_t share = 10;
    if (share * merged_ < round.clusters()) around_hubs();
  }

  int64_t merged() const { return merged_; }
  const std::vector<int64_t>& partner() const { return partner_; }

 private:
  bool is_free(int64_t v) const { return partner_[v] == v; }
  void match(int64_t u, int64_t v) {
    partner_[u] = v;
    partner_[v] = u;
    ++merged_;
    --left_;
  }

  void along_edges() {
    const Graph& graph = round_.graph;
    std::vector<Edge> edges;
    for (int64_t u = 0; u < graph.nodes; ++u)
      for (int64_t a = graph.row_begin[u]; a < graph.row_begin[u + 1]; ++a)
        if (const int64_t v = graph.target[a]; u < v)
          edges.push_back({graph.weight_of(a), round_.size[u] + round_.size[v],
                           round_.neighbours(u) + round_.neighbours(v), u, v});
    std::sort(edges.begin(), edges.end());
    for (const Edge& edge : edges) {
      if (left_ == 0) return;
      if (is_free(edge.u) && is_free(edge.v)) match(edge.u, edge.v);
    }
  }

  // Of the clusters left over, pairs with the same heaviest neighbour.
  void around_hubs() {
    const Graph& graph = round_.graph;
    std::vector<int64_t> waiting(partner_.size(), -1);  // for each hub
    for (int64_t v = 0; v < graph.nodes && left_ > 0; ++v) {
      if (!is_free(v) || round_.neighbours(v) == 0) continue;
      int64_t heaviest = graph.row_begin[v];
      for (int64_t a = heaviest + 1; a < graph.row_begin[v + 1]; ++a)
        if (graph.weight_of(a) > graph.weight_of(heaviest)) heaviest = a;
      int64_t& other = waiting[graph.target[heaviest]];
      if (other < 0) {
        other = v;
        continue;
      }
      match(other, v);
      other = -1;
    }
  }

  const Round& round_;
  int64_t left_, merged_ = 0;
  std::vector<int64_t> partner_;
};

Round merged(const Round& round, const std::vector<int64_t>& group_of, int64_t groups) {
  std::vector<int64_t> source, target, size(static_cast<size_t>(groups), 0);
  std::vector<double> weight;
  for (int64_t u = 0; u < round.clusters(); ++u) {
    size[group_of[u]] += round.size[u];
    for (int64_t a = round.graph.row_begin[u]; a < round.graph.row_begin[u + 1]; ++a) {
      const int64_t from = group_of[u], to = group_of[round.graph.target[a]];
      if (from == to) continue;
      source.push_back(from);
      target.push_back(to);
      weight.push_back(round.graph.weight_of(a));
    }
  }
  return {Graph::from_arcs(groups, source, target, weight), std::move(size)};
}

}  // namespace

Grouping heavy_edge_clusters(const Graph& graph, int64_t most) {
  check(graph);
  if (most < 1)
    throw ArgumentError("coarsen", fmt::format("there are no {} clusters of nodes", most), "give 1 or more");
  Grouping out;
  out.groups = graph.nodes;
  out.group_of.resize(static_cast<size_t>(graph.nodes));
  std::iota(out.group_of.begin(), out.group_of.end(), 0);
  if (out.groups <= most) return out;
  Round round = first_round(graph);
  while (out.groups > most) {
    const Matching matching(round, out.groups - most);
    if (matching.merged() == 0) break;  // no edge is left
    std::vector<int64_t> number(static_cast<size_t>(out.groups), -1);
    int64_t groups = 0;
    for (int64_t v = 0; v < out.groups; ++v)
      if (number[v] < 0) number[v] = number[matching.partner()[v]] = groups++;
    for (int64_t& group : out.group_of) group = number[group];
    round = merged(round, number, groups);
    out.groups = groups;
  }
  return out;
}

Graph coarse_graph(const Graph& graph, const Grouping& clusters, double own) {
  std::vector<int64_t> source, target, size(static_cast<size_t>(clusters.groups), 0);
  std::vector<double> weight;
  for (int64_t v = 0; v < graph.nodes; ++v) {
    ++size[clusters.group_of[v]];
    for (int64_t a = graph.row_begin[v]; a < graph.row_begin[v + 1]; ++a) {
      source.push_back(clusters.group_of[v]);
      target.push_back(clusters.group_of[graph.target[a]]);
      weight.push_back(graph.weight_of(a));
    }
  }
  for (int64_t c = 0; c < clusters.groups; ++c) {
    if (size[c] == 1 || own == 0) continue;
    source.push_back(c);
    target.push_back(c);
    weight.push_back(own * static_cast<double>(size[c] - 1));
  }
  return Graph::from_arcs(clusters.groups, source, target, weight);
}

}  // namespace eignn
