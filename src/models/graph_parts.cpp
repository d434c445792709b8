#include "models/graph_parts.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include "eignn/error.h"

namespace eignn {

GraphParts::GraphParts(const std::vector<std::vector<int64_t>>& nodes_of, int64_t nodes, torch::Device device)
    : nodes_(nodes), device_(device), nodes_of_(nodes_of.size()) {
  if (nodes_of.empty())
    throw ArgumentError("graphs", "there is no graph to learn from", "give at least one node");
  if (nodes_of.size() == 1 && nodes_of[0].empty()) return;
  graph_of_.resize(static_cast<size_t>(nodes), -1);
  place_in_graph_.resize(static_cast<size_t>(nodes), -1);
  for (size_t g = 0; g < nodes_of.size(); ++g) {
    if (nodes_of[g].empty())
      throw ArgumentError("graphs", fmt::format("graph {} of {} has no node", g, nodes_of.size()),
                          "leave it out");
    for (size_t k = 0; k < nodes_of[g].size(); ++k) {
      const int64_t v = nodes_of[g][k];
      if (v < 0 || v >= nodes)
        throw ArgumentError(
            "graphs", fmt::format("graph {} has the node {}, and there are {} rows of features", g, v, nodes),
            "number the nodes from 0");
      if (graph_of_[static_cast<size_t>(v)] >= 0)
        throw ArgumentError("graphs",
                            fmt::format("node {} is listed twice, in graph {} and in graph {}", v,
                                        graph_of_[static_cast<size_t>(v)], g),
                            "give every node one place");
      graph_of_[static_cast<size_t>(v)] = static_cast<int64_t>(g);
      place_in_graph_[static_cast<size_t>(v)] = static_cast<int64_t>(k);
    }
    nodes_of_[g] = torch::tensor(nodes_of[g], torch::kInt64);
  }
}

int64_t GraphParts::nodes(size_t g) const {
  return nodes_of_.at(g).defined() ? nodes_of_[g].numel() : nodes_;
}

torch::Tensor GraphParts::rows_of(size_t g, const torch::Tensor& X) const {
  const torch::Tensor& nodes = nodes_of_.at(g);
  if (!nodes.defined()) return X;
  const auto rows = X.index_select(0, nodes.to(X.device()));
  return rows.is_sparse() ? rows.coalesce() : rows;
}

torch::Tensor GraphParts::on_host(const torch::Tensor& index) const {
  const auto nodes = index.to(torch::kCPU).contiguous();
  const int64_t* v = nodes.data_ptr<int64_t>();
  for (int64_t k = 0; k < nodes.numel(); ++k)
    if (graph_of_[static_cast<size_t>(v[k])] < 0)
      throw ArgumentError("index", fmt::format("node {} belongs to no graph", v[k]),
                          "ask for nodes of the graphs that the model was made with");
  return nodes;
}

torch::Tensor GraphParts::on_device(const std::vector<int64_t>& numbers) const {
  return torch::tensor(numbers, torch::kInt64).to(device_);
}

GraphParts::Stacked GraphParts::stacked(const torch::Tensor& index) const {
  if (one_with_all_nodes()) return {{0}, index};
  const auto host = on_host(index);
  const int64_t *v = host.data_ptr<int64_t>(), count = host.numel();
  Stacked out;
  std::vector<int64_t> first_row(graphs(), -1);  // of each graph in the stack; -1: not in the stack
  for (int64_t k = 0; k < count; ++k) first_row[graph_of_[v[k]]] = 0;
  int64_t rows = 0;
  for (size_t g = 0; g < graphs(); ++g) {
    if (first_row[g] < 0) continue;
    out.graphs.push_back(g);
    first_row[g] = rows;
    rows += nodes(g);
  }
  std::vector<int64_t> at(static_cast<size_t>(count));
  for (int64_t k = 0; k < count; ++k) at[k] = first_row[graph_of_[v[k]]] + place_in_graph_[v[k]];
  out.index = on_device(at);
  return out;
}

GraphParts::Apart GraphParts::apart(const torch::Tensor& index) const {
  if (one_with_all_nodes()) return {{{0, index}}, torch::arange(index.numel(), index.options())};
  const auto host = on_host(index);
  const int64_t *v = host.data_ptr<int64_t>(), count = host.numel();
  std::vector<std::vector<int64_t>> rows(graphs()), entries(graphs());  // in the graph, in the index
  for (int64_t k = 0; k < count; ++k) {
    rows[graph_of_[v[k]]].push_back(place_in_graph_[v[k]]);
    entries[graph_of_[v[k]]].push_back(k);
  }
  Apart out;
  std::vector<int64_t> order(static_cast<size_t>(count));
  int64_t row = 0;
  for (size_t g = 0; g < graphs(); ++g) {
    if (rows[g].empty()) continue;
    out.pieces.push_back({g, on_device(rows[g])});
    for (const int64_t entry : entries[g]) order[entry] = row++;
  }
  out.order = on_device(order);
  return out;
}

}  // namespace eignn
