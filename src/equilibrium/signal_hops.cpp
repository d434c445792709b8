#include "equilibrium/signal_hops.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

namespace eignn {

namespace {

constexpr double unreached = std::numeric_limits<double>::infinity();

bool has_weights(const Propagation& S) {
  if (S.weight.empty()) return false;
  for (int64_t i = 0; i < S.nodes; ++i)
    for (int64_t e = S.row_begin[i]; e < S.row_begin[i + 1]; ++e)
      if (S.column[e] != i && S.weight[e] != 1) return true;
  return false;
}

// The arcs of Â read both ways, each with its length in hops.
struct Lengths {
  Graph graph;               // the pattern
  std::vector<double> hops;  // of each arc of `graph`; empty: all are 1

  Lengths(const Propagation& S, double decay) : graph(S.pattern().symmetrised()) {
    if (!has_weights(S) || !(decay < 1)) return;
    hops.assign(graph.target.size(), unreached);
    const auto degree = [&](int64_t v) {
      return static_cast<double>(graph.row_begin[v + 1] - graph.row_begin[v]);
    };
    const auto shorten = [&](int64_t from, int64_t to, double length) {
      const auto begin = graph.target.begin();
      const auto at = std::lower_bound(begin + graph.row_begin[from], begin + graph.row_begin[from + 1], to);
      double& known = hops[static_cast<size_t>(at - begin)];
      known = std::min(known, length);
    };
    for (int64_t i = 0; i < S.nodes; ++i)
      for (int64_t e = S.row_begin[i]; e < S.row_begin[i + 1]; ++e) {
        const int64_t j = S.column[e];
        const double equal = 1 / std::sqrt(degree(i) * degree(j)), fraction = equal / S.value(i, e);
        const double length = 1 + std::max(0.0, std::log(fraction)) / -std::log(decay);
        shorten(i, j, length);
        shorten(j, i, length);
      }
  }
};

// From the nearest of the sources to each node; the nodes that one reaches are put into `order`, the nearest
// first.
std::vector<double> distances(const Lengths& lengths, const std::vector<int64_t>& sources,
                              std::vector<int64_t>& order) {
  const Graph& graph = lengths.graph;
  std::vector<double> distance(graph.nodes, unreached);
  for (const int64_t v : sources) distance[v] = 0;
  order.clear();
  if (lengths.hops.empty()) {  // breadth first
    order = sources;
    for (size_t head = 0; head < order.size(); ++head) {
      const int64_t v = order[head];
      for (int64_t a = graph.row_begin[v]; a < graph.row_begin[v + 1]; ++a) {
        if (distance[graph.target[a]] != unreached) continue;
        distance[graph.target[a]] = distance[v] + 1;
        order.push_back(graph.target[a]);
      }
    }
    return distance;
  }
  // Dijkstra's algorithm
  std::vector<char> settled(graph.nodes, 0);
  using Reached = std::pair<double, int64_t>;
  std::priority_queue<Reached, std::vector<Reached>, std::greater<>> next;
  for (const int64_t v : sources) next.emplace(0, v);
  while (!next.empty()) {
    const int64_t v = next.top().second;
    next.pop();
    if (settled[v]) continue;
    settled[v] = 1;
    order.push_back(v);
    for (int64_t a = graph.row_begin[v]; a < graph.row_begin[v + 1]; ++a) {
      const double there = distance[v] + lengths.hops[a];
      if (!(there < distance[graph.target[a]])) continue;
      distance[graph.target[a]] = there;
      next.emplace(there, graph.target[a]);
    }
  }
  return distance;
}

int64_t whole_hops(double hops) {
  constexpr double most = 1e15;
  return static_cast<int64_t>(std::min(hops, most));
}

}  // namespace

double decay_per_hop(double gamma, double width) {
  const double a = gamma / std::sqrt(width), half = (3 / a - 1) / 2;
  return half - std::sqrt(half * half - 1);
}

int64_t farthest_hops(const Propagation& S, const std::vector<int64_t>& sources, double decay) {
  if (sources.empty() || static_cast<int64_t>(sources.size()) == S.nodes) return 0;
  std::vector<int64_t> order;
  const auto distance = distances(Lengths(S, decay), sources, order);
  return whole_hops(distance[order.back()]);
}

int64_t longest_signal_hops(const Propagation& S, double decay) {
  if (!has_weights(S)) return longest_hops(S.pattern());
  const Lengths lengths(S, decay);
  const Components components = weak_components(lengths.graph);
  // From any node of a component to the one farthest from it, and from there to the one farthest from that.
  std::vector<int64_t> ends(components.count, -1), order;
  for (int64_t v = 0; v < S.nodes; ++v)
    if (ends[components.label[v]] < 0) ends[components.label[v]] = v;
  distances(lengths, ends, order);
  for (const int64_t v : order) ends[components.label[v]] = v;  // the last of a component is the farthest
  const auto distance = distances(lengths, ends, order);
  return order.empty() ? 0 : whole_hops(distance[order.back()]);
}

}  // namespace eignn
