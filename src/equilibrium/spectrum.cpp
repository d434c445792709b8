#include "equilibrium/spectrum.h"

#include <torch/torch.h>

#include <numeric>

#include "eignn/error.h"
#include "equilibrium/sparse_product.h"
#include "equilibrium/symmetric_eigen.h"
#include "graph/content_hash.h"
#include "graph/unique_components.h"

namespace eignn {

namespace {

// λ = 1 with eigenvector D^½ 1 belongs to every component whose rows keep their degree: set it, exactly.
void pin_leading_pair(const Propagation& S, EigenBlock& block) {
  if (S.slack.empty()) return;
  auto leading = torch::empty({S.nodes}, torch::kFloat64);
  auto at = leading.accessor<double, 1>();
  for (int64_t k = 0; k < S.nodes; ++k) {
    if (S.slack[k] != 0) return;
    at[k] = 1 / S.left[k];
  }
  block.values[S.nodes - 1] = 1.0;
  block.vectors.select(1, S.nodes - 1).copy_(leading / leading.norm());
}

EigenBlock decompose(const Propagation& S, torch::Dtype dtype, torch::Device device) {
  EigenBlock block;
  std::tie(block.values, block.vectors) = symmetric_eigen(dense(S).to(device, dtype));
  pin_leading_pair(S, block);
  block.vectors =
      block.vectors.contiguous();  // as they would come from the store: one layout, one order of summation
  return block;
}

// A graph whose components are all smaller is decomposed faster than a file is opened.
constexpr int64_t smallest_stored = 32;

}  // namespace

Spectrum::Spectrum(const Propagation& S, torch::Dtype dtype, torch::Device device, SpectrumStore* store) {
  if (!S.symmetric)
    throw UsageError(
        "a directed graph has no orthogonal eigenbasis (spectral methods); use --solver direct or picard, or "
        "--direction "
        "undirected");
  const auto kinds = unique_components(S);
  const std::string key = content_hash(S) + (dtype == torch::kFloat32 ? "-f32" : "-f64");
  const bool stored = store && !kinds.empty() && kinds.back().S.nodes >= smallest_stored;
  std::vector<EigenBlock> blocks;
  if (!stored || !store->load(key, blocks) || blocks.size() != kinds.size()) {
    blocks.clear();
    for (const auto& kind : kinds) blocks.push_back(decompose(kind.S, dtype, device));
    if (stored) store->save(key, blocks);
  }

  std::vector<int64_t> order;
  std::vector<torch::Tensor> values;
  for (size_t k = 0; k < kinds.size(); ++k) {
    const int64_t count = static_cast<int64_t>(kinds[k].instances.size());
    groups_.push_back(
        {static_cast<int64_t>(order.size()), count, kinds[k].S.nodes, blocks[k].vectors.to(device, dtype)});
    for (const auto& nodes : kinds[k].instances) order.insert(order.end(), nodes.begin(), nodes.end());
    values.push_back(blocks[k].values.to(device, dtype).repeat({count}));
  }
  lambda = values.empty() ? torch::empty({0}, torch::dtype(dtype).device(device)) : torch::cat(values);
  one_minus_lambda = 1 - lambda;
  order_ = torch::tensor(order, torch::kInt64).to(device);
  inverse_ = torch::argsort(order_);
}

torch::Tensor Spectrum::to_spectral(const torch::Tensor& X) const {
  const auto sorted = X.index_select(0, order_);
  auto out = torch::empty_like(sorted);
  for (const Group& g : groups_) {
    auto to = g.of(out);
    torch::bmm_out(to, g.batch(g.Q.t()), g.of(sorted));
  }
  return out;
}

torch::Tensor Spectrum::to_nodes(const torch::Tensor& Z_hat) const {
  const auto from = Z_hat.contiguous();
  auto sorted = torch::empty_like(from);
  for (const Group& g : groups_) {
    auto to = g.of(sorted);
    torch::bmm_out(to, g.batch(g.Q), g.of(from));
  }
  return sorted.index_select(0, inverse_);
}

torch::Tensor Spectrum::rows_of_Q(const torch::Tensor& index) const {
  for (const auto& [seen, rows] : rows_cache_)
    if (seen.is_same(index)) return rows;
  constexpr size_t kept = 4;  // train, validation, test and one to spare
  if (rows_cache_.size() == kept) rows_cache_.erase(rows_cache_.begin());
  rows_cache_.emplace_back(index, groups_[0].Q.index_select(0, inverse_.index_select(0, index)));
  return rows_cache_.back().second;
}

torch::Tensor Spectrum::rows_to_spectral(const torch::Tensor& Y, const torch::Tensor& index) const {
  if (!index.defined()) return to_spectral(Y);
  if (is_connected()) return rows_of_Q(index).t().mm(Y);
  // Many components: the blocks are small, and a full batched product beats gathering their rows.
  auto full = torch::zeros({order_.size(0), Y.size(1)}, Y.options());
  full.index_add_(0, index, Y);
  return to_spectral(full);
}

torch::Tensor Spectrum::rows_to_nodes(const torch::Tensor& Z_hat, const torch::Tensor& index) const {
  if (!index.defined()) return to_nodes(Z_hat);
  if (is_connected()) return rows_of_Q(index).mm(Z_hat);
  return to_nodes(Z_hat).index_select(0, index);
}

}  // namespace eignn
