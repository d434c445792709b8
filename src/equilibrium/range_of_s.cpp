#include "equilibrium/range_of_s.h"

#include <torch/torch.h>

#include <utility>

namespace eignn {

RangeOfS::RangeOfS(const Propagation& S, const SolverOptions& options, double negligible) : nodes(S.nodes) {
  spectrum_ = std::make_unique<Spectrum>(S, options.dtype, options.device, options.store);
  const auto size = spectrum_->lambda.abs();
  const int64_t r = (size > negligible).sum().item<int64_t>();
  order_ = size.argsort(-1, /*descending=*/true).narrow(0, 0, r);
  lambda = spectrum_->lambda.index_select(0, order_);
  Q_ = spectrum_->one_basis(order_);
  if (Q_.defined()) spectrum_ = nullptr;
  set_ones();
}

RangeOfS::RangeOfS(torch::Tensor eigenvalues, torch::Tensor Q)
    : nodes(Q.size(0)), lambda(std::move(eigenvalues)), Q_(std::move(Q)) {
  set_ones();
}

void RangeOfS::set_ones() {
  const auto everywhere = torch::ones({nodes, 1}, lambda.options());
  ones = to_spectral(everywhere, {});
  rest_of_ones = rest_of(everywhere, ones);
}

torch::Tensor RangeOfS::rest_of(const torch::Tensor& X, const torch::Tensor& X_hat) const {
  return lambda.size(0) == nodes ? torch::zeros_like(X) : X - to_nodes(X_hat, {});
}

torch::Tensor RangeOfS::rows_of_Q(const torch::Tensor& index) const {
  if (!index.defined()) return Q_;
  if (const auto* known = rows_cache_.find(index)) return *known;
  return rows_cache_.add(index, Q_.index_select(0, index));
}

torch::Tensor RangeOfS::to_spectral(const torch::Tensor& Y, const torch::Tensor& index) const {
  if (Q_.defined()) return rows_of_Q(index).t().mm(Y);
  return spectrum_->rows_to_spectral(Y, index).index_select(0, order_);
}

torch::Tensor RangeOfS::to_nodes(const torch::Tensor& Z_hat, const torch::Tensor& index) const {
  if (Q_.defined()) return rows_of_Q(index).mm(Z_hat);
  const auto everywhere = torch::zeros({nodes, Z_hat.size(1)}, Z_hat.options()).index_copy_(0, order_, Z_hat);
  return spectrum_->rows_to_nodes(everywhere, index);
}

FeaturesInRange::FeaturesInRange(const RangeOfS& range, const torch::Tensor& features)
    : X(features), X_hat(range.to_spectral(features, {})) {
  const auto rest = range.rest_of(X, X_hat);
  rest_squares = rest.square().sum(0);
  rest_sums = range.rest_of_ones.t().mm(rest).squeeze(0);
}

torch::Tensor FeaturesInRange::mean(const RangeOfS& range, const torch::Tensor& change) const {
  return X.mean(0) + range.ones.t().mm(change).squeeze(0) / static_cast<double>(range.nodes);
}

// In the range of S the centred Z has the coordinates Ẑ - o meanᵀ with o = Q_rᵀ 1. Outside of it Z = X.
Moments FeaturesInRange::moments(const RangeOfS& range, const torch::Tensor& Z_hat,
                                 const torch::Tensor& change) const {
  const auto mean = this->mean(range, change);
  const auto inside = torch::addmm(Z_hat, range.ones, mean.unsqueeze(0), 1, -1).square_().sum(0);
  const auto outside =
      rest_squares - 2 * mean * rest_sums + mean.square() * range.rest_of_ones.square().sum();
  return {mean, (inside + outside.clamp_min(0)) / static_cast<double>(range.nodes)};
}

}  // namespace eignn
