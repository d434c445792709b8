#include "equilibrium/spectral/spectrum.h"

#include <torch/torch.h>

#include <algorithm>

#include "eignn/error.h"
#include "eignn/interrupt.h"
#include "equilibrium/sparse_product.h"
#include "equilibrium/symmetric_eigen.h"
#include "graph/content_hash.h"
#include "graph/unique_components.h"

namespace eignn {

namespace {

// Where the component has no slack: sets λ = 1 and its vector exactly.
void pin_leading_pair(const Propagation& S, EigenBlock& block) {
  auto q = exact_leading_vector(S);
  if (!q.defined()) return;
  block.values[S.nodes - 1] = 1.0;
  // Applies the smallest rotation that takes the computed v to the exact q, I - (v+q)(v+q)ᵀ/(1+vᵀq) + 2qvᵀ,
  // to all eigenvectors. On a long path the computed eigenvectors of close eigenvalues are mixed, and
  // replacing v alone would destroy their orthogonality.
  auto& V = block.vectors;
  const auto v = V.select(1, S.nodes - 1).clone();
  q = q.to(v.options());
  if (q.dot(v).item<double>() < 0) q = -q;
  const auto sum = (v + q).unsqueeze(1);
  V.addmm_(sum, sum.t().mm(V), 1, -1 / (1 + q.dot(v).item<double>()));
  V.select(1, S.nodes - 1).copy_(q);
}

bool belong_to(const std::vector<ComponentKind>& kinds, const std::vector<EigenBlock>& blocks) {
  return std::equal(kinds.begin(), kinds.end(), blocks.begin(), blocks.end(),
                    [](const ComponentKind& kind, const EigenBlock& block) {
                      const int64_t n = kind.S.nodes;
                      return block.values.sizes() == torch::IntArrayRef({n}) &&
                             block.vectors.sizes() == torch::IntArrayRef({n, n});
                    });
}

// A graph with only smaller components is decomposed faster than a file is opened.
constexpr int64_t smallest_stored = 32;

}  // namespace

torch::Tensor exact_leading_vector(const Propagation& S) {
  if (S.slack.empty() || std::any_of(S.slack.begin(), S.slack.end(), [](double s) { return s != 0; }))
    return {};
  auto leading = torch::empty({S.nodes}, torch::kFloat64);
  auto at = leading.accessor<double, 1>();
  for (int64_t k = 0; k < S.nodes; ++k) at[k] = 1 / S.left[k];
  return leading / leading.norm();
}

EigenBlock eigenbasis_of(const Propagation& S, torch::Dtype dtype, torch::Device device) {
  EigenBlock block;
  std::tie(block.values, block.vectors) = symmetric_eigen(dense(S, dtype).to(device));
  // Column-major, as LAPACK and the store return them: one layout gives one order of summation.
  block.vectors = block.vectors.t().contiguous().t();
  pin_leading_pair(S, block);
  return block;
}

Spectrum::Spectrum(const Propagation& S, torch::Dtype dtype, torch::Device device, SpectrumStore* store) {
  if (!S.symmetric)
    throw ArgumentError("solver",
                        "a directed graph has no orthogonal eigenbasis, which spectral methods need",
                        "use solver direct or sparse, or direction undirected");
  const auto kinds = unique_components(S);  // ascending by size
  if (!kinds.empty()) require_decomposable(kinds.back().S.nodes);
  const std::string key = content_hash(S) + (dtype == torch::kFloat32 ? "-rotated-f32" : "-rotated-f64");
  const bool stored = store && !kinds.empty() && kinds.back().S.nodes >= smallest_stored;
  std::vector<EigenBlock> blocks;
  if (!stored || !store->load(key, blocks) || !belong_to(kinds, blocks)) {
    blocks.clear();
    for (const auto& kind : kinds) {
      check_interrupt();
      blocks.push_back(eigenbasis_of(kind.S, dtype, device));
    }
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

void Spectrum::Group::multiply(const torch::Tensor& q, const torch::Tensor& from, torch::Tensor& to) const {
  if (count == 1) {
    torch::mm_out(to, q, from);
    return;
  }
  auto batch = to.view({count, size, to.size(1)});
  torch::bmm_out(batch, q.unsqueeze(0).expand({count, size, size}), from.view(batch.sizes()));
}

torch::Tensor Spectrum::to_spectral(const torch::Tensor& X) const {
  const auto sorted = X.index_select(0, order_);
  auto out = torch::empty_like(sorted);
  for (const Group& g : groups_) g.to_spectral(g.rows_of(sorted), g.rows_of(out));
  return out;
}

torch::Tensor Spectrum::to_nodes(const torch::Tensor& Z_hat) const {
  const auto from = Z_hat.contiguous();
  auto sorted = torch::empty_like(from);
  for (const Group& g : groups_) g.to_nodes(g.rows_of(from), g.rows_of(sorted));
  return sorted.index_select(0, inverse_);
}

torch::Tensor Spectrum::ones() const {
  return to_spectral(torch::ones({order_.size(0), 1}, lambda.options()));
}

Moments spectral_moments(const torch::Tensor& ones, const torch::Tensor& Z_hat) {
  const auto n = static_cast<double>(Z_hat.size(0));
  const auto mean = ones.t().mm(Z_hat) / n;
  return {mean.squeeze(0), torch::addmm(Z_hat, ones, mean, 1, -1).square_().sum(0) / n};
}

void add_moments_cotangent_(torch::Tensor& Y_hat, const torch::Tensor& ones, const torch::Tensor& Z_hat,
                            const torch::Tensor& mean, int64_t n, const Moments& cotangent) {
  // ∂mean = 1/n, ∂variance = 2 (z - mean)/n
  const double share = 1 / static_cast<double>(n);
  const auto by_deviation = 2 * share * cotangent.variance;
  Y_hat.addcmul_(Z_hat, by_deviation);
  Y_hat.addmm_(ones, (share * cotangent.mean - by_deviation * mean).unsqueeze(0));
}

torch::Tensor Spectrum::one_basis(const torch::Tensor& places) const {
  if (groups_.size() != 1 || groups_[0].count != 1) return {};
  const auto Q = groups_[0].Q.t().index_select(0, places).t();  // copies whole columns
  return torch::equal(order_, torch::arange(order_.size(0), order_.options())) ? Q
                                                                               : Q.index_select(0, inverse_);
}

const std::vector<Spectrum::Part>& Spectrum::parts_of(const torch::Tensor& index) const {
  if (const auto* known = parts_cache_.find(index)) return *known;
  const auto places = inverse_.index_select(0, index);
  std::vector<Part> parts;
  for (const Group& g : groups_) {
    const int64_t size = g.count * g.size;
    const auto at = ((places >= g.begin) & (places < g.begin + size)).nonzero().squeeze(1);
    if (at.size(0) == 0) continue;
    const auto rows = places.index_select(0, at) - g.begin;
    // A copy of the needed rows of Q makes every product cheaper in proportion; with nearly all rows it would
    // only cost memory. Equal components that occur many times are small, and there a batched product is
    // faster than gathering rows.
    const bool few = g.count == 1 && 4 * at.size(0) <= 3 * g.size;
    const bool all = at.size(0) == index.size(0);
    parts.push_back(
        {&g, all ? torch::Tensor() : at, rows, few ? g.Q.t().index_select(1, rows).t() : torch::Tensor()});
  }
  return parts_cache_.add(index, std::move(parts));
}

torch::Tensor Spectrum::rows_to_spectral(const torch::Tensor& Y, const torch::Tensor& index) const {
  if (!index.defined()) return to_spectral(Y);
  auto out = torch::zeros({order_.size(0), Y.size(1)}, Y.options());
  for (const Part& part : parts_of(index)) {
    const auto mine = part.at.defined() ? Y.index_select(0, part.at) : Y;
    auto to = part.group->rows_of(out);
    if (part.Q.defined()) {
      torch::mm_out(to, part.Q.t(), mine);
    } else {
      const auto full = torch::zeros_like(to).index_add_(0, part.rows, mine);
      part.group->to_spectral(full, to);
    }
  }
  return out;
}

torch::Tensor Spectrum::rows_to_nodes(const torch::Tensor& Z_hat, const torch::Tensor& index) const {
  if (!index.defined()) return to_nodes(Z_hat);
  const auto from = Z_hat.contiguous();
  auto out = torch::empty({index.size(0), Z_hat.size(1)}, Z_hat.options());
  for (const Part& part : parts_of(index)) {
    const auto mine = part.group->rows_of(from);
    torch::Tensor Z;
    if (part.Q.defined()) {
      Z = part.Q.mm(mine);
    } else {
      auto full = torch::empty_like(mine);
      part.group->to_nodes(mine, full);
      Z = full.index_select(0, part.rows);
    }
    if (!part.at.defined()) return Z;
    out.index_copy_(0, part.at, Z);
  }
  return out;
}

}  // namespace eignn
