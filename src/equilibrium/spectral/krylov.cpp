// krylov: no eigendecomposition of g. In the eigenbasis of a symmetric S column j of the problem reads
//
//     (I - γ λ_j g) ẑ_j = x̂_j
//
// These are n symmetric positive definite systems that share the matrix g, so that an iteration of conjugate
// gradients on all of them at once is one product with g (2 n m² flops). Three things keep the products few
// and small:
//
// - the large eigenvalues of g go into the preconditioner M_j = I - γ λ_j V Θ Vᵀ (deflation.h);
// - where λ_j is zero to working precision ẑ_j = x̂_j, so only the r coordinates Q_r of S's range are kept:
//   Z = X + Q_r (Ẑ - X̂). The web graphs (Chameleon, Squirrel) have r near n/2;
// - rows are ordered by falling |λ_j|, and the last ones, whose systems are nearly the identity, are dropped
//   from the iteration when they have converged.
//
// When only f = Z C is needed, with a thin C, no ẑ is computed: see krylov_series.cpp.
//
// Stops when the recurrence has ‖r‖ ≤ tol (‖X‖ + ‖Z‖) and a random sketch of the true residual, r Ω with a
// thin Ω, agrees; if it does not, the iteration continues from a recomputed residual.
#include <torch/torch.h>

#include "equilibrium/chebyshev.h"
#include "equilibrium/conjugate_gradients.h"
#include "equilibrium/contraction.h"
#include "equilibrium/deflation.h"
#include "equilibrium/dense_kernels.h"
#include "equilibrium/feature_cache.h"
#include "equilibrium/range_of_s.h"
#include "equilibrium/scale.h"
#include "equilibrium/solvers.h"
#include "equilibrium/spectral/krylov_series.h"
#include "equilibrium/spectral/spectrum.h"
#include "equilibrium/stopwatch.h"
#include "equilibrium/tf32.h"
#include "equilibrium/tolerance.h"

namespace eignn {

namespace {

// The shares of the tolerance for S's neglected eigenvalues and for the iteration. The two errors are
// orthogonal.
constexpr double share_of_neglected = 0.5, share_of_iteration = 0.85;  // 0.5² + 0.85² < 1

torch::Tensor first_rows(const torch::Tensor& t, int64_t rows) {
  return t.narrow(0, 0, rows);
}

// A P = P - γ Λ P g. P may have the first rows only.
struct ShiftedSystems {
  torch::Tensor gram;              // (m, m)
  torch::Tensor scaled_lambda;     // γ λ_j / (ν + ε), (r, 1)
  torch::Tensor sketch, g_sketch;  // Ω and FᵀF Ω, (m, few)

  torch::Tensor operator()(const torch::Tensor& P) const {
    return torch::addcmul(P, first_rows(scaled_lambda, P.size(0)), P.mm(gram), -1);
  }
  /// Estimates ‖X - A Z‖_F by the norm of (X - Z) Ω + γ Λ Z g Ω, without a product r×m×m. The relative error
  /// is some per cent for a residual of high rank and about a quarter for one of rank one.
  double estimated_residual(const torch::Tensor& X, const torch::Tensor& Z) const {
    const ProductsInTf32 in_full(false, X.device());
    return torch::addcmul((X - Z).mm(sketch), scaled_lambda, Z.mm(g_sketch)).norm().item<double>();
  }
};

// M_j⁻¹ = I + V diag(d_j) Vᵀ with d_ji = γλ_jθ_i / (1 - γλ_jθ_i).
struct Preconditioner {
  torch::Tensor V, d;  // (m, k), (r, k)

  Preconditioner(const Deflation& deflation, const torch::Tensor& gamma_lambda) : V(deflation.V) {
    if (deflation.empty()) return;
    const auto a = gamma_lambda * deflation.theta.unsqueeze(0).to(gamma_lambda.options());
    // Rounding may bring γλθ to 1. The clamp keeps M positive definite.
    d = a / (1 - a).clamp_min(unit_roundoff(a.scalar_type()));
  }
  torch::Tensor operator()(const torch::Tensor& r) const {
    if (!V.defined()) return r.clone();
    return torch::addmm(r, r.mm(V).mul_(first_rows(d, r.size(0))), V.t());
  }
};

// The rows of A Z = X as the `Systems` of conjugate_gradients.h. x_norm is the ‖X‖ of the stopping bound; it
// also counts the coordinates outside the range of S, where ẑ = x̂. Its out_of_scale() is 0.
struct RowSystems {
  const ShiftedSystems& A;
  const Preconditioner& M;
  const torch::Tensor& X;
  double x_norm;
  const SolverOptions& options;

  torch::Tensor apply(const torch::Tensor& P) const { return A(P); }
  torch::Tensor precondition(const torch::Tensor& r) const { return M(r); }
  torch::Tensor dots(const torch::Tensor& P, const torch::Tensor& Q) const { return row_dots(P, Q); }
  double norm(const torch::Tensor& r) const { return r.norm().item<double>(); }
  double bound(const torch::Tensor& Z) const {
    return share_of_iteration * backward_tolerance(options) * (x_norm + Z.norm().item<double>());
  }
  bool accepts_without_recomputing(const torch::Tensor& Z, double r_norm) const {
    constexpr double sketch_noise = 1.2;
    return r_norm <= bound(Z) && A.estimated_residual(X, Z) <= sketch_noise * bound(Z);
  }

  // Rows are ordered by falling |λ_j|, so that the last ones converge first. They are dropped from the end
  // while the ‖r‖² of all dropped rows stays within `drop_allowance_`.
  class Sweep {
   public:
    Sweep(const RowSystems& systems, double r_norm, double bound)
        : products_(systems.options.tf32, systems.X.device()),
          systems_(systems),
          sweep_goal_(systems.options.tf32 ? tf32_reduction * r_norm : 0),
          drop_allowance_(0.2 * std::max(bound, sweep_goal_) * std::max(bound, sweep_goal_)),
          rows_(systems.X.size(0)) {}

    torch::Tensor active(const torch::Tensor& t) const { return first_rows(t, rows_); }
    double goal(const torch::Tensor& Z) const { return std::max(systems_.bound(Z), sweep_goal_); }
    double reached(const torch::Tensor& r) {
      const auto squares = row_dots(r, r).squeeze(1).to(torch::kFloat64).to(torch::kCPU).contiguous();
      const double norm = std::sqrt(dropped_ + squares.sum().item<double>());
      const double *row = squares.data_ptr<double>(), allowance = drop_allowance_ - dropped_;
      double dropped = 0;
      while (rows_ > 1 && dropped + row[rows_ - 1] <= allowance) dropped += row[--rows_];
      dropped_ += dropped;
      return norm;
    }

   private:
    ProductsInTf32 products_;
    const RowSystems& systems_;
    double sweep_goal_, drop_allowance_;
    int64_t rows_;        // the first rows_ rows are active
    double dropped_ = 0;  // ‖r‖² of the dropped rows
  };
  Sweep begin_sweep(double r_norm, double bound) const { return Sweep(*this, r_norm, bound); }
};

int64_t solve_scaled(const ShiftedSystems& A, const Preconditioner& M, const torch::Tensor& X, double x_norm,
                     const SolverOptions& options, torch::Tensor& Z) {
  Z = torch::zeros_like(X);
  return conjugate_gradients(RowSystems{A, M, X, x_norm, options}, X, /*r=*/X.clone(), /*products=*/0,
                             options, "krylov", "use solver spectral", Z);
}

// Solves A Z = X for every row and returns the number of products with g.
int64_t solve_rows(const ShiftedSystems& A, const Preconditioner& M, const torch::Tensor& X, double x_norm,
                   const SolverOptions& options, torch::Tensor& Z) {
  if (!std::isfinite(x_norm)) throw not_finite("krylov");
  const int k = out_of_scale(x_norm);
  if (k == 0) return solve_scaled(A, M, X, x_norm, options, Z);
  const int64_t products = solve_scaled(A, M, X * std::ldexp(1.0, -k), std::ldexp(x_norm, -k), options, Z);
  Z.mul_(std::ldexp(1.0, k));
  return products;
}

class KrylovEquilibrium : public Equilibrium {
 public:
  KrylovEquilibrium(std::shared_ptr<const RangeOfS> range, std::shared_ptr<const KrylovSource> source,
                    const torch::Tensor& F, const SolverOptions& options)
      : range_(std::move(range)),
        source_(std::move(source)),
        options_(options),
        contraction_(F, options.gamma, options.epsilon, Contraction::CheckNu::when_read) {
    const auto& gram = contraction_.gram();
    const auto scale = contraction_.scale();
    const auto gamma_lambda = options.gamma * range_->lambda.unsqueeze(1);
    A_ = {gram, gamma_lambda * scale, source_->sketch, gram.mm(source_->sketch)};
    M_ = std::make_unique<Preconditioner>(deflate(contraction_), gamma_lambda);
    iterations_ = solve_rows(A_, *M_, source_->X_hat, source_->norm, options_, Z_hat_);
  }

  // Z = X + Q_r (Ẑ - X̂)
  ScaledRows do_rows(const torch::Tensor& index) const override {
    return {source_->rows(index) + range_->to_nodes(Z_hat_ - source_->X_hat, index), {}};
  }

  torch::Tensor do_project(const torch::Tensor& index, const torch::Tensor& C) const override {
    return source_->rows(index).mm(C) + range_->to_nodes((Z_hat_ - source_->X_hat).mm(C), index);
  }

  Moments do_moments() const override { return source_->moments(*range_, Z_hat_, Z_hat_ - source_->X_hat); }

  Gradients do_pull(const torch::Tensor& index, const ScaledRows& Y, bool want_X) const override {
    const auto plain = Y.plain();
    return pull_spectral(range_->to_spectral(plain, index), norm_of(plain), index, plain, want_X);
  }

  ScaledRows do_pull_X(const torch::Tensor& index, const ScaledRows& Y) const override {
    const auto plain = Y.plain(), Y_hat = range_->to_spectral(plain, index);
    torch::Tensor W_hat;
    solve_rows(A_, *M_, Y_hat, norm_of(plain), options_, W_hat);
    return {to_nodes(W_hat, Y_hat, index, plain), {}};
  }

  Gradients do_pull_with_moments(const torch::Tensor& index, const ScaledRows& Y, const Moments& bar,
                                 bool want_X) const override {
    if (want_X) return Equilibrium::do_pull_with_moments(index, Y, bar, want_X);
    const auto plain = Y.plain();
    auto Y_hat = range_->to_spectral(plain, index);
    add_moments_cotangent_(Y_hat, range_->ones, Z_hat_, source_->mean(*range_, Z_hat_ - source_->X_hat),
                           range_->nodes, bar);
    return pull_spectral(Y_hat, norm_of(Y_hat), {}, {}, false);
  }

 private:
  Gradients pull_spectral(const torch::Tensor& Y_hat, double norm, const torch::Tensor& index,
                          const torch::Tensor& Y, bool want_X) const {
    Gradients out;
    torch::Tensor W_hat;
    out.iterations = solve_rows(A_, *M_, Y_hat, norm, options_, W_hat);
    out.F = contraction_.pullback(W_hat.t().mm(range_->lambda.unsqueeze(1) * Z_hat_));
    if (want_X) out.X.values = to_nodes(W_hat, Y_hat, index, Y);
    return out;
  }

  // W = Y + Q_r (Ŵ - Ŷ)
  torch::Tensor to_nodes(const torch::Tensor& W_hat, const torch::Tensor& Y_hat, const torch::Tensor& index,
                         const torch::Tensor& Y) const {
    auto W = range_->to_nodes(W_hat - Y_hat, {});
    return index.defined() ? W.index_add_(0, index, Y) : W.add_(Y);
  }

  std::shared_ptr<const RangeOfS> range_;
  std::shared_ptr<const KrylovSource> source_;
  SolverOptions options_;
  Contraction contraction_;
  ShiftedSystems A_;
  std::unique_ptr<Preconditioner> M_;
  torch::Tensor Z_hat_;
};

class KrylovSolver : public Solver {
 public:
  KrylovSolver(std::shared_ptr<const Propagation> S, const SolverOptions& options)
      : Solver(std::move(S), options) {
    const Stopwatch watch;
    range_ = std::make_shared<RangeOfS>(*S_, options, share_of_neglected * backward_tolerance(options));
    preprocess_seconds_ = watch.seconds();
  }
  const char* name() const override { return "krylov"; }

  std::shared_ptr<Projection> do_project(const torch::Tensor& F, const torch::Tensor& X,
                                         const torch::Tensor& C) override {
    if (!prefers_series(C)) return Solver::do_project(F, X, C);
    if (!alpha_.defined())
      alpha_ = chebyshev_coefficients(range_->lambda, options_.gamma,
                                      chebyshev_terms(options_.gamma, backward_tolerance(options_)));
    return make_krylov_series(range_, source(X), alpha_, F, C, options_);
  }

  std::shared_ptr<Equilibrium> do_solve(const torch::Tensor& F, const torch::Tensor& X) override {
    return std::make_shared<KrylovEquilibrium>(range_, source(X), F, options_);
  }

 private:
  // Whether the series costs less than solving for Z, which takes about five products of r rows with g in the
  // solve and its adjoint together.
  bool prefers_series(const torch::Tensor& C) const {
    if (options_.gamma >= 1) return false;
    const int64_t terms = chebyshev_terms(options_.gamma, backward_tolerance(options_));
    return 2 * terms * C.size(1) < 5 * range_->lambda.size(0);
  }

  const std::shared_ptr<const KrylovSource>& source(const torch::Tensor& X) {
    return features_.get(
        X, [&](const torch::Tensor& x) { return std::make_shared<const KrylovSource>(*range_, x); });
  }

  std::shared_ptr<const RangeOfS> range_;
  torch::Tensor alpha_;  // of the series, computed on first use
  FeatureCache<std::shared_ptr<const KrylovSource>> features_;
};

}  // namespace

KrylovSource::KrylovSource(const RangeOfS& range, const torch::Tensor& features)
    : FeaturesInRange(range, features), norm(norm_of(features)) {
  constexpr int64_t columns = 8;
  sketch = (torch::randn({X.size(1), columns}, at::detail::createCPUGenerator(0), torch::kFloat64) /
            std::sqrt(static_cast<double>(columns)))
               .to(X.options());
}

std::unique_ptr<Solver> make_krylov(std::shared_ptr<const Propagation> S, const SolverOptions& options) {
  return std::make_unique<KrylovSolver>(std::move(S), options);
}

}  // namespace eignn
