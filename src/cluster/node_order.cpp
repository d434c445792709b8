#include "cluster/node_order.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "eignn/error.h"

namespace eignn {

const char* name(NodeOrder order) {
  switch (order) {
    case NodeOrder::given:
      return "given";
    case NodeOrder::bfs:
      return "bfs";
    case NodeOrder::ptscotch:
      return "ptscotch";
  }
  return "";
}

std::vector<int64_t> breadth_first_order(const Graph& graph, const std::vector<int64_t>& part) {
  const Graph both_ways = graph.symmetrised();
  const auto n = static_cast<size_t>(graph.nodes);
  const auto part_of = [&](size_t v) { return part.empty() ? 0 : part[v]; };
  std::vector<size_t> starts(n);
  std::iota(starts.begin(), starts.end(), size_t{0});
  std::stable_sort(starts.begin(), starts.end(), [&](size_t a, size_t b) { return part_of(a) < part_of(b); });
  std::vector<int64_t> order;
  order.reserve(n);
  std::vector<bool> seen(n, false);
  for (const size_t start : starts) {
    if (seen[start]) continue;
    seen[start] = true;
    order.push_back(static_cast<int64_t>(start));
    for (size_t head = order.size() - 1; head < order.size(); ++head) {
      const auto v = static_cast<size_t>(order[head]);
      for (int64_t a = both_ways.row_begin[v]; a < both_ways.row_begin[v + 1]; ++a) {
        const auto u = static_cast<size_t>(both_ways.target[static_cast<size_t>(a)]);
        if (seen[u] || part_of(u) != part_of(start)) continue;
        seen[u] = true;
        order.push_back(static_cast<int64_t>(u));
      }
    }
  }
  return order;
}

std::vector<int64_t> ptscotch_parts(const Ranks& ranks, const Graph& graph, int64_t parts) {
  const Graph both_ways = graph.symmetrised();
  if (both_ways.arcs() >= std::numeric_limits<int32_t>::max()) {
    throw ResourceError(fmt::format("PTScotch counts arcs in 32 bits, and {} are more", both_ways.arcs()),
                        "order", "use bfs, or keep the order of the data");
  }
  // Each process gives the rows of a range, without loops.
  const int64_t first = graph.nodes * ranks.rank() / ranks.size(),
                last = graph.nodes * (ranks.rank() + 1) / ranks.size();
  std::vector<int32_t> begin = {0}, target, weight;
  for (int64_t v = first; v < last; ++v) {
    for (int64_t a = both_ways.row_begin[v]; a < both_ways.row_begin[v + 1]; ++a)
      if (both_ways.target[a] != v) target.push_back(both_ways.target[a]);
    begin.push_back(static_cast<int32_t>(target.size()));
    weight.push_back(begin.back() - begin[begin.size() - 2] + 1);
  }
  std::string problem;
  const auto mine =
      ranks.transport()->partition(graph.nodes, begin, target, weight, static_cast<int>(parts), problem);
  if (ranks.any(!problem.empty())) {
    throw ResourceError(problem.empty() ? "another process could not partition" : problem, "order",
                        "use bfs, or keep the order of the data");
  }
  const auto all = ranks.rows_everywhere(torch::tensor(mine, torch::kInt64)).contiguous();
  return {all.data_ptr<int64_t>(), all.data_ptr<int64_t>() + all.numel()};
}

Graph reordered(const Graph& graph, const std::vector<int64_t>& order) {
  std::vector<int64_t> place(order.size()), source, target;
  for (size_t k = 0; k < order.size(); ++k) place[static_cast<size_t>(order[k])] = static_cast<int64_t>(k);
  source.reserve(graph.target.size());
  target.reserve(graph.target.size());
  std::vector<double> weight;
  for (const int64_t v : order) {
    for (int64_t a = graph.row_begin[v]; a < graph.row_begin[v + 1]; ++a) {
      source.push_back(place[static_cast<size_t>(v)]);
      target.push_back(place[static_cast<size_t>(graph.target[a])]);
      if (!graph.weight.empty()) weight.push_back(graph.weight[a]);
    }
  }
  return Graph::from_arcs(graph.nodes, source, target, weight);
}

}  // namespace eignn
