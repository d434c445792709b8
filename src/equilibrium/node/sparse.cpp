// sparse: for graphs with millions of nodes and any S. With g = Q diag(μ) Qᵀ each column of Z̃ = Z Q solves
//
//     (I - γμ Sᵀ) z̃ = x̃,      R = Q W̃ᵀ (Sᵀ Z̃) Qᵀ
//
// by a semi-iteration (sparse_iteration.cpp), or, at the few nodes that training reads, by a series without
// products with S (sparse_series.cpp). On a GPU a small g is not decomposed where the features change with
// every step (without_eigenbasis.cpp). Otherwise a step costs one m×m eigendecomposition, three products
// n×m×m, and O(K · nnz · m) with K about 8 in float32 for the initial weights. Memory: X, Z̃, W̃ and blocks of
// at most 64 columns; nothing is n×n.
#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "equilibrium/contraction.h"
#include "equilibrium/feature_cache.h"
#include "equilibrium/kernel_arguments.h"
#include "equilibrium/memory_budget.h"
#include "equilibrium/node/propagated_features.h"
#include "equilibrium/node/resolvent_series.h"
#include "equilibrium/node/sparse_iteration.h"
#include "equilibrium/node/sparse_series.h"
#include "equilibrium/node/without_eigenbasis.h"
#include "equilibrium/scale.h"
#include "equilibrium/solvers.h"
#include "equilibrium/sparse_product.h"
#include "equilibrium/stopwatch.h"
#include "equilibrium/tolerance.h"

namespace eignn {

namespace {

// The first process's eigenvectors: those of equal eigenvalues are any, and all processes need the same.
DecomposedContraction agreed(const NodeOperator& S, DecomposedContraction g) {
  if (S.rows_here() == S.rows()) return g;
  const int64_t m = g.mu.size(0);
  const auto parts = S.agreed(torch::cat({g.Q.reshape({-1}), g.mu, g.a, g.one_minus_a, g.one_minus_mu}));
  g.Q = parts.narrow(0, 0, m * m).view({m, m}).clone();
  int64_t at = m * m;
  for (torch::Tensor* part : {&g.mu, &g.a, &g.one_minus_a, &g.one_minus_mu}) {
    *part = parts.narrow(0, at, m).clone();
    at += m;
  }
  return g;
}

class SparseEquilibrium : public Equilibrium {
 public:
  /// `features` belong to X where the same X will be solved for many F; null otherwise.
  SparseEquilibrium(std::shared_ptr<const NodeOperator> S, std::shared_ptr<IterationBuffers> buffers,
                    std::shared_ptr<PropagatedFeatures> features, const torch::Tensor& F,
                    const torch::Tensor& X, const SolverOptions& options)
      : S_(std::move(S)),
        g_(agreed(*S_, DecomposedContraction(F.to(torch::kFloat64), options.gamma, options.epsilon))),
        iteration_(S_, std::move(buffers), g_, options),
        features_(std::move(features)),
        X_(X) {
    if (features_) series_ = SparseSeries::make(S_, features_, g_, options);
    if (!series_) Z();
  }

  ScaledRows do_rows(const torch::Tensor& index) const override {
    if (const auto* T = terms_at(index, X_.size(1))) return {series_->rows(*T, {}).mm(basis().t()), {}};
    return {(index.defined() ? Z().index_select(0, index) : Z()).mm(iteration_.Q().t()), {}};
  }

  torch::Tensor do_project(const torch::Tensor& index, const torch::Tensor& C) const override {
    const auto* T = terms_at(index, C.size(1));
    if (!T && series_ && !Z_.defined() && !budget().has(bytes_of_Z())) {
      budget().require(4.0 * static_cast<double>(X_.size(0) * C.size(1) * X_.element_size()),
                       fmt::format("Z C at all {} nodes", S_->rows()), "");
      const auto all = series_->everywhere(X_, g_.Q.t().mm(C.to(torch::kFloat64)));
      return index.defined() ? all.index_select(0, index) : all;
    }
    if (!T) return Equilibrium::do_project(index, C);
    return series_->rows(*T, g_.Q.t().mm(C.to(torch::kFloat64)));
  }

  Gradients do_pull(const torch::Tensor& index, const ScaledRows& cotangent, bool want_X) const override {
    const auto Y = cotangent.plain();
    const double y_norm = norm_of(*S_, Y);
    Gradients out;
    if (!want_X && SparseSeries::in_range(y_norm))
      if (const auto* T = terms_at(index, X_.size(1))) {
        out.F = series_->pull(*T, Y.mm(basis()), {}).F;
        return out;
      }
    const auto W = adjoint(index, Y, y_norm, out.iterations);
    const auto& Q = iteration_.Q();
    const auto R = iteration_.adjoint_product(W, Z());
    out.F = g_.pullback(Q.mm(R).mm(Q.t()).to(torch::kFloat64)).to(Q.scalar_type());
    if (want_X) out.X.values = W.mm(Q.t());
    return out;
  }

  // Without Z and the gradient of F.
  ScaledRows do_pull_X(const torch::Tensor& index, const ScaledRows& cotangent) const override {
    const auto Y = cotangent.plain();
    if (const auto W = few_sources(index, Y); W.defined()) return {W, {}};
    int64_t products = 0;
    return {adjoint(index, Y, norm_of(*S_, Y), products).mm(iteration_.Q().t()), {}};
  }

  ProjectedGradients do_pull_projected(const torch::Tensor& index, const torch::Tensor& cotangent,
                                       const torch::Tensor& C) const override {
    if (SparseSeries::in_range(norm_of(*S_, cotangent)))
      if (const auto* T = terms_at(index, C.size(1)))
        return series_->pull(*T, cotangent, g_.Q.t().mm(C.to(torch::kFloat64)));
    return Equilibrium::do_pull_projected(index, cotangent, C);
  }

 protected:
  torch::Tensor sum_over_nodes(torch::Tensor of_nodes_here) const override {
    return S_->sum(std::move(of_nodes_here));
  }
  int64_t all_nodes(int64_t) const override { return S_->rows(); }

 private:
  // W̃ (n, m').
  torch::Tensor adjoint(const torch::Tensor& index, const torch::Tensor& Y, double y_norm,
                        int64_t& products) const {
    return iteration_.solve(y_norm, /*adjoint=*/true, products,
                            [&](const torch::Tensor& Q, torch::Tensor& to) {
                              if (index.defined())
                                to.zero_().index_add_(0, index, Y.mm(Q));
                              else
                                torch::mm_out(to, Y, Q);
                            });
  }

  // W for cotangents at r nodes of a symmetric S, by the series of resolvent_series.h: with E_v the (n, r)
  // unit columns of these nodes
  //
  //     W = Σ_p (T_p(S) E_v) · (Y Q diag(c_p) Qᵀ)
  //
  // so that S is applied to r columns in place of m. Undefined where the iteration is the better choice, or
  // the series, which has no residual test, would be too long or too short of digits.
  torch::Tensor few_sources(const torch::Tensor& index, const torch::Tensor& Y) const {
    constexpr int64_t most_sources = 8, most_terms = 100, together = 16;
    const int64_t n = X_.size(0), m = X_.size(1), r = Y.size(0);
    const double tolerance = backward_tolerance(iteration_.options());
    if (!S_->symmetric() || !S_->in_memory() || !index.defined() || r == 0 || r > most_sources || 2 * r > m ||
        tolerance < 10 * unit_roundoff(iteration_.options().dtype))
      return {};
    const ResolventSeries series(g_.a, g_.one_minus_a, tolerance,
                                 std::min(most_terms, iteration_.options().max_iterations));
    if (!series.converges()) return {};
    const auto c = series.coefficients(), Y_hat = Y.to(torch::kFloat64).mm(g_.Q);
    auto now = torch::zeros({n, r}, Y.options()), last = torch::zeros({n, r}, Y.options());
    now.index_put_({index, torch::arange(r, index.options())}, 1.0);
    // Some terms are added at a time, since each addition reads and writes W.
    auto terms = torch::empty({together * r, n}, Y.options());
    auto rows = torch::empty({together * r, m}, Y.options());
    auto W = torch::zeros({n, m}, Y.options());
    const int64_t count = series.terms();
    for (int64_t p = 0, kept = 0; p < count; ++p) {
      if (p > 0) {  // T_1 = S T_0, then T_p+1 = 2 S T_p - T_p-1
        const auto next = S_->apply(now);
        last = std::exchange(now, p == 1 ? next : last.neg_().add_(next, 2));
      }
      terms.narrow(0, kept * r, r).copy_(now.t());
      rows.narrow(0, kept * r, r).copy_((Y_hat * c[p]).mm(g_.Q.t()));
      if (++kept < together && p + 1 < count) continue;
      W.addmm_(terms.narrow(0, 0, kept * r).t(), rows.narrow(0, 0, kept * r));
      kept = 0;
    }
    return W;
  }

  // Q without its padding columns.
  torch::Tensor basis() const {
    const auto& Q = iteration_.Q();
    const int64_t m = Q.size(0);
    return Q.narrow(1, Q.size(1) - m, m);
  }

  const SparseSeries::Terms* terms_at(const torch::Tensor& index, int64_t columns) const {
    return series_ ? series_->terms_at(index, columns) : nullptr;
  }

  // Z̃ at all nodes, solved on the first call.
  const torch::Tensor& Z() const {
    if (!Z_.defined()) {
      const Stopwatch watch;
      budget().require(bytes_of_Z(), fmt::format("Z at all {} nodes", S_->rows()),
                       ", or use a head that reads the labelled nodes alone");
      Z_ = iteration_.solve(features_ ? features_->norm() : norm_of(*S_, X_), /*adjoint=*/false, iterations_,
                            [&](const torch::Tensor& Q, torch::Tensor& to) { torch::mm_out(to, X_, Q); });
      seconds_ += watch.seconds();
    }
    return Z_;
  }

  MemoryBudget budget() const { return {iteration_.options().memory}; }

  // Z̃, and the two buffers of a block of columns.
  double bytes_of_Z() const {
    const auto number = static_cast<double>(X_.element_size()),
               columns = static_cast<double>(iteration_.Q().size(1)),
               block = std::min(columns, static_cast<double>(most_lines * cache_line) / number);
    return static_cast<double>(X_.size(0)) * (columns + 2 * block) * number;
  }

  std::shared_ptr<const NodeOperator> S_;
  DecomposedContraction g_;  // in float64: float32's loss of orthogonality would use up the bound
  SparseIteration iteration_;
  std::shared_ptr<PropagatedFeatures> features_;
  std::unique_ptr<SparseSeries> series_;  // null: not used
  torch::Tensor X_;
  mutable torch::Tensor Z_;  // Z̃ (n, m')
};

class SparseSolver : public Solver {
 public:
  SparseSolver(std::shared_ptr<const Propagation> S, const SolverOptions& options,
               std::shared_ptr<const NodeOperator> product)
      : Solver(std::move(S), options), product_(std::move(product)) {
    const Stopwatch watch;
    if (!product_) product_ = std::make_shared<SparseProduct>(S_, options.dtype, options.device);
    preprocess_seconds_ = watch.seconds();
  }
  const char* name() const override { return "sparse"; }
  int64_t nodes() const override { return product_->rows(); }

  std::shared_ptr<Equilibrium> do_solve(const torch::Tensor& F, const torch::Tensor& X) override {
    // An X that requires a gradient will change, and its gradient needs Z at all nodes anyway.
    std::shared_ptr<PropagatedFeatures> features;
    if (product_->symmetric() && options_.fixed_features && !X.requires_grad())
      features = features_.get(X, [&](const torch::Tensor& x) {
        return std::make_shared<PropagatedFeatures>(product_, x, MemoryBudget{options_.memory},
                                                    options_.terms);
      });
    // A GPU waits longer for the eigenvectors of a small g than for products with it.
    if (options_.device.is_cuda() && !features)
      if (auto solved = solve_without_eigenbasis(product_, F, X, options_)) return solved;
    return std::make_shared<SparseEquilibrium>(product_, buffers_, std::move(features), F, X.detach(),
                                               options_);
  }

 private:
  std::shared_ptr<const NodeOperator> product_;
  std::shared_ptr<IterationBuffers> buffers_ = std::make_shared<IterationBuffers>();
  FeatureCache<std::shared_ptr<PropagatedFeatures>> features_;
};

}  // namespace

std::unique_ptr<Solver> make_sparse(std::shared_ptr<const Propagation> S, const SolverOptions& options,
                                    std::shared_ptr<const NodeOperator> product) {
  return std::make_unique<SparseSolver>(std::move(S), options, std::move(product));
}

}  // namespace eignn
