// Training reads Z at the labelled nodes L alone, and X does not change. For a symmetric S
//
//     Z_L = Σ_p (T_p(S) X)_L Q diag(c_p(a)) Qᵀ
//
// with c_p applied to each eigenvalue (resolvent_series.h). T_p(S) X is computed once; after that neither a
// solve at these nodes nor its gradient in F has a product with S, and a term costs O(|L| m²). Memory: two
// n×m matrices, with which the recurrence continues when training needs more terms, and the rows at L
// (propagated_features.h).
#include "equilibrium/node/sparse_series.h"

#include <torch/torch.h>

#include <algorithm>
#include <utility>

#include "equilibrium/sum_of_products.h"
#include "equilibrium/tolerance.h"

namespace eignn {

// With more terms the rounding of the recurrence for T_p is no longer small compared with the tolerance.
constexpr int64_t most_terms = 100;

SparseSeries::SparseSeries(std::shared_ptr<const NodeOperator> S,
                           std::shared_ptr<PropagatedFeatures> features, const DecomposedContraction& g,
                           ResolventSeries series, torch::Dtype dtype)
    : S_(std::move(S)), features_(std::move(features)), g_(g), series_(std::move(series)), dtype_(dtype) {}

std::unique_ptr<SparseSeries> SparseSeries::make(std::shared_ptr<const NodeOperator> S,
                                                 std::shared_ptr<PropagatedFeatures> features,
                                                 const DecomposedContraction& g,
                                                 const SolverOptions& options) {
  const double tolerance = backward_tolerance(options);
  if (!in_range(features->norm()) || tolerance < 10 * unit_roundoff(options.dtype)) return nullptr;
  ResolventSeries series(g.a, g.one_minus_a, tolerance, std::min(most_terms, options.max_iterations));
  if (!series.converges()) {
    features->forget();
    return nullptr;
  }
  return std::unique_ptr<SparseSeries>(
      new SparseSeries(std::move(S), std::move(features), g, std::move(series), options.dtype));
}

const SparseSeries::Terms* SparseSeries::terms_at(const torch::Tensor& index, int64_t columns) const {
  constexpr int64_t least_columns = 8;  // reading T takes as long as fewer
  if (!index.defined()) return nullptr;
  const int64_t nodes = S_->count(index.size(0)), terms = series_.terms();
  // Per term and feature the series has nodes · columns multiply-adds, where an iteration gathers the entries
  // of S twice (solve and adjoint). Such an entry costs as much as two to five multiply-adds: on PPI, whose
  // nodes have 29 neighbours and 50 features, both methods take the same time.
  if (nodes * std::max(columns, least_columns) > S_->entries() || !features_->affordable(nodes, terms))
    return nullptr;
  return &features_->at(index, terms);
}

// Σ_p T_p Q diag(c_p) Ĉ. Term p is needed only for the columns of Q from series_.first(p) on, which become
// fewer as p grows.
torch::Tensor SparseSeries::rows(const Terms& T, const torch::Tensor& C_hat) const {
  const auto c = series_.coefficients();
  const int64_t m = c.size(1);
  auto sum = torch::zeros({T[0].size(0), C_hat.defined() ? C_hat.size(1) : m}, T[0].options());
  for (int64_t p = 0; p < series_.terms(); ++p) {
    const int64_t first = series_.first(p), active = m - first;
    const auto Q = g_.Q.narrow(1, first, active) * c[p].narrow(0, first, active);
    auto to = C_hat.defined() ? sum : sum.narrow(1, first, active);
    to.addmm_(T[p], (C_hat.defined() ? Q.mm(C_hat.narrow(0, first, active)) : Q).to(sum.scalar_type()));
  }
  return sum;
}

// Σ_p T_p(S) X W_p with W_p = Q diag(c_p) Ĉ, by Clenshaw's recurrence from the last term to the first:
//
//     B_p = X W_p + 2 S B_p+1 - B_p+2,      Z C = X W_0 + S B_1 - B_2
torch::Tensor SparseSeries::everywhere(const torch::Tensor& X, const torch::Tensor& C_hat) const {
  const auto c = series_.coefficients();
  const auto term = [&](int64_t p) { return X.mm(g_.Q.mm(c[p].unsqueeze(1) * C_hat).to(X.scalar_type())); };
  auto now = term(series_.terms() - 1), later = torch::zeros_like(now);
  for (int64_t p = series_.terms() - 2; p >= 0; --p) {
    const double twice = p == 0 ? 1 : 2;
    later = std::exchange(now, term(p).add_(S_->apply(now), twice).sub_(later));
  }
  return now;
}

// With P_p = Qᵀ T_pᵀ D and ∂c_p the divided differences of c_p:
//
//     ∂L/∂(γg) = Q (Σ_p (P_p Êᵀ) ∘ ∂c_p) Qᵀ,      Zᵀ D = Q Σ_p c_p P_p
ProjectedGradients SparseSeries::pull(const Terms& T, const torch::Tensor& D,
                                      const torch::Tensor& E_hat) const {
  const auto c = series_.coefficients();
  ResolventSeries::Slopes slopes(series_);
  torch::Tensor R, C;
  for (int64_t p = 0; p < series_.terms(); ++p) {
    const auto P = g_.Q.t().mm(sum_of_products(T[p], D).to(torch::kFloat64));
    const auto term = slopes.next().mul_(E_hat.defined() ? P.mm(E_hat.t()) : P);
    R = p == 0 ? term : R.add_(term);
    if (E_hat.defined()) {
      const auto part = c[p].unsqueeze(1) * P;
      C = p == 0 ? part : C.add_(part);
    }
  }
  return {g_.pullback(g_.Q.mm(S_->sum(R)).mm(g_.Q.t())).to(dtype_),
          E_hat.defined() ? g_.Q.mm(S_->sum(C)).to(dtype_) : torch::Tensor()};
}

}  // namespace eignn
