#include "equilibrium/spectrum.h"

#include <torch/torch.h>

#include <algorithm>
#include <map>

#include "eignn/error.h"
#include "equilibrium/sparse_product.h"
#include "graph/content_hash.h"

namespace eignn {

namespace {

// λ = 1 with eigenvector D^½ 1 belongs to every component whose rows keep their degree: set it, exactly.
void pin_leading_pair(const Propagation& S, const std::vector<int64_t>& nodes, EigenBlock& block) {
  auto leading = torch::empty({static_cast<int64_t>(nodes.size())}, torch::kFloat64);
  for (size_t k = 0; k < nodes.size(); ++k) {
    if (S.slack.empty() || S.slack[nodes[k]] != 0) return;
    leading[static_cast<int64_t>(k)] = 1 / S.left[nodes[k]];
  }
  const int64_t last = block.values.size(0) - 1;
  block.values[last] = 1.0;
  block.vectors.select(1, last).copy_(leading / leading.norm());
}

EigenBlock decompose(const torch::Tensor& dense) {
  EigenBlock block;
  std::tie(block.values, block.vectors) = torch::linalg_eigh(dense);
  return block;
}

// Entries of a component in its own numbering: equal keys mean equal blocks.
std::string block_key(const Propagation& S, const std::vector<int64_t>& nodes,
                      const std::vector<int64_t>& place) {
  ContentHash hash;
  for (int64_t v : nodes) {
    const double scale[2] = {S.left[v], S.right[v]};
    hash.add(scale, sizeof scale);
    for (int64_t e = S.row_begin[v]; e < S.row_begin[v + 1]; ++e) {
      hash.add(&place[S.column[e]], sizeof(int64_t));
      hash.add(&S.weight[e], sizeof(double));
    }
  }
  return hash.hex();
}

// Blocks below this are decomposed faster than a file is opened.
constexpr int64_t smallest_stored = 32;

}  // namespace

Spectrum::Spectrum(const Propagation& S, torch::Dtype dtype, torch::Device device, SpectrumStore* store) {
  if (!S.symmetric)
    throw UsageError(
        "a directed graph has no orthogonal eigenbasis (spectral methods); use --solver direct or picard, "
        "or --direction undirected");
  auto components = weak_components(S.pattern()).members();
  std::stable_sort(components.begin(), components.end(),
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });

  std::vector<int64_t> place(S.nodes);
  for (const auto& nodes : components)
    for (size_t k = 0; k < nodes.size(); ++k) place[nodes[k]] = static_cast<int64_t>(k);

  // Unique blocks, in the order of their first appearance.
  std::vector<size_t> block_of;
  std::vector<size_t> representative;
  std::map<std::pair<size_t, std::string>, size_t> known;
  for (size_t c = 0; c < components.size(); ++c) {
    const auto key = std::make_pair(components[c].size(), block_key(S, components[c], place));
    const auto [at, fresh] = known.emplace(key, representative.size());
    if (fresh) representative.push_back(c);
    block_of.push_back(at->second);
  }

  const std::string key = content_hash(S) + (dtype == torch::kFloat32 ? "-f32" : "-f64");
  const bool stored =
      store && !components.empty() && static_cast<int64_t>(components.back().size()) >= smallest_stored;
  std::vector<EigenBlock> blocks;
  if (!stored || !store->load(key, blocks) || blocks.size() != representative.size()) {
    blocks.clear();
    for (size_t c : representative) {
      EigenBlock block = decompose(dense_block(S, components[c], place).to(device, dtype));
      pin_leading_pair(S, components[c], block);
      blocks.push_back(block);
    }
    if (stored) store->save(key, blocks);
  }

  std::vector<int64_t> order;
  std::vector<torch::Tensor> values;
  for (size_t c = 0; c < components.size();) {
    Group group{static_cast<int64_t>(order.size()), 0, static_cast<int64_t>(components[c].size()), {}};
    std::vector<torch::Tensor> vectors;
    for (; c < components.size() && static_cast<int64_t>(components[c].size()) == group.size;
         ++c, ++group.count) {
      order.insert(order.end(), components[c].begin(), components[c].end());
      vectors.push_back(blocks[block_of[c]].vectors.to(device, dtype));
      values.push_back(blocks[block_of[c]].values.to(device, dtype));
    }
    group.Q = group.count == 1 ? vectors[0].unsqueeze(0).contiguous() : torch::stack(vectors);
    groups_.push_back(group);
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
    torch::bmm_out(to, g.Q.transpose(1, 2), g.of(sorted));
  }
  return out;
}

torch::Tensor Spectrum::to_nodes(const torch::Tensor& Z_hat) const {
  auto sorted = torch::empty(Z_hat.sizes(), Z_hat.options());
  const auto from = Z_hat.contiguous();
  for (const Group& g : groups_) {
    auto to = g.of(sorted);
    torch::bmm_out(to, g.Q, g.of(from));
  }
  return sorted.index_select(0, inverse_);
}

torch::Tensor Spectrum::rows_of_Q(const torch::Tensor& index) const {
  for (const auto& [seen, rows] : rows_cache_)
    if (seen.is_same(index)) return rows;
  constexpr size_t kept = 4;  // train, validation, test and one to spare
  if (rows_cache_.size() == kept) rows_cache_.erase(rows_cache_.begin());
  rows_cache_.emplace_back(index, groups_[0].Q[0].index_select(0, inverse_.index_select(0, index)));
  return rows_cache_.back().second;
}

torch::Tensor Spectrum::rows_to_spectral(const torch::Tensor& Y, const torch::Tensor& index) const {
  if (!index.defined()) return to_spectral(Y);
  if (groups_.size() == 1 && groups_[0].count == 1) return rows_of_Q(index).t().mm(Y);
  // Many components: the blocks are small, and a full batched product beats gathering their rows.
  auto full = torch::zeros({order_.size(0), Y.size(1)}, Y.options());
  full.index_add_(0, index, Y);
  return to_spectral(full);
}

torch::Tensor Spectrum::rows_to_nodes(const torch::Tensor& Z_hat, const torch::Tensor& index) const {
  if (!index.defined()) return to_nodes(Z_hat);
  if (groups_.size() == 1 && groups_[0].count == 1) return rows_of_Q(index).mm(Z_hat);
  return to_nodes(Z_hat).index_select(0, index);
}

}  // namespace eignn
