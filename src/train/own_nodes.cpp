#include "train/own_nodes.h"

#include <torch/torch.h>

#include <utility>

namespace eignn {

OwnNodes::OwnNodes(std::vector<int64_t> nodes, int64_t all)
    : count_(static_cast<int64_t>(nodes.size())), nodes_(std::move(nodes)) {
  place_ = torch::full({all}, -1, torch::kInt64);
  auto* at = place_.data_ptr<int64_t>();
  for (int64_t v = 0; v < count_; ++v) at[nodes_[static_cast<size_t>(v)]] = v;
}

int64_t OwnNodes::place(int64_t node) const {
  if (place_.defined()) return node >= 0 && node < place_.numel() ? place_.data_ptr<int64_t>()[node] : -1;
  return node >= first_ && node < first_ + count_ ? node - first_ : -1;
}

torch::Tensor OwnNodes::rows(const torch::Tensor& of_all) const {
  if (!of_all.defined()) return of_all;
  if (!place_.defined()) {
    return of_all.is_sparse() ? of_all.narrow_copy(0, first_, count_).coalesce()
                              : of_all.narrow(0, first_, count_).clone();
  }
  const auto own = of_all.index_select(0, torch::tensor(nodes_, torch::kInt64));
  return own.is_sparse() ? own.coalesce() : own;
}

// The own numbers of these nodes, -1 for those of others.
torch::Tensor OwnNodes::own_numbers(const torch::Tensor& nodes) const {
  if (place_.defined()) return place_.index_select(0, nodes);
  const auto own = nodes - first_;
  return torch::where(own < count_, own, torch::full_like(own, -1));
}

torch::Tensor OwnNodes::places_in(const torch::Tensor& nodes) const {
  return (own_numbers(nodes) >= 0).nonzero().squeeze(1).contiguous();
}

torch::Tensor OwnNodes::of(const torch::Tensor& nodes) const {
  const auto own = own_numbers(nodes);
  return own.masked_select(own >= 0).contiguous();
}

Dataset OwnNodes::part_of(Dataset whole) const {
  Dataset here = std::move(whole);
  here.features = rows(here.features);
  here.labels = rows(here.labels);
  here.known = rows(here.known);
  here.node_names = slice(here.node_names);
  here.graph_of = slice(here.graph_of);
  here.distance = slice(here.distance);
  for (Split& split : here.splits) split = of(split);
  here.first_node = first_;
  here.graph = Graph::from_arcs(count_, {}, {});
  if (!nodes_.empty() && here.node_names.empty())
    for (const int64_t v : nodes_) here.node_names.push_back(std::to_string(v));
  return here;
}

}  // namespace eignn
