// picard and deflated: the recurrence Z ← γ Sᵀ Z g + X, for any S, without an eigendecomposition.
//
// With r = X - Z + γ Sᵀ Z g a step of picard is Z ← Z + r: O(n m² + nnz m), and K ≈ log(tol)/log(γ μ₁) of
// them. deflated solves g's large eigenvalues apart. With g ≈ V Θ Vᵀ (deflation.h) the k columns r V of a
// residual have systems of their own, thin and cheap,
//
//     y = γ Sᵀ y Θ + r V,      M⁻¹ r = r + (y - r V) Vᵀ
//
// and Z ← Z + M⁻¹ r converges like γ μ_{k+1} ‖S‖: for a trained F in a handful of products n×m×m. Both stop
// at a proven bound, ‖r‖ ≤ tol (‖X‖ + ‖Z‖), and the Z that is returned is one step better.
#include <fmt/format.h>
#include <torch/torch.h>

#include "eignn/error.h"
#include "equilibrium/contraction.h"
#include "equilibrium/deflation.h"
#include "equilibrium/scale.h"
#include "equilibrium/solvers.h"
#include "equilibrium/sparse_product.h"
#include "equilibrium/stopwatch.h"
#include "equilibrium/tf32.h"
#include "equilibrium/tolerance.h"

namespace eignn {

namespace {

const char* name_of(bool deflated) {
  return deflated ? "deflated" : "picard";
}

class RecurrenceEquilibrium : public Equilibrium {
 public:
  RecurrenceEquilibrium(std::shared_ptr<const SparseProduct> S, const torch::Tensor& F,
                        const torch::Tensor& X, const SolverOptions& options, bool deflated)
      : S_(std::move(S)),
        options_(options),
        contraction_(F, options.gamma, options.epsilon),
        scale_(options.gamma * contraction_.scale()),
        name_(name_of(deflated)),
        deflation_(deflated ? deflate(contraction_.gram(), contraction_.scale()) : Deflation()) {
    Z_ = solve(X, false, iterations);
  }

  ScaledRows rows(const torch::Tensor& index) const override {
    return {index.defined() ? Z_.index_select(0, index) : Z_, {}};
  }

  Gradients pull(const torch::Tensor& index, const ScaledRows& cotangent, bool want_X) const override {
    auto Y = cotangent.plain();
    if (index.defined()) Y = torch::zeros_like(Z_).index_add_(0, index, Y);
    Gradients out;
    const auto W = solve(Y, true, out.iterations);
    out.F = contraction_.pullback(W.t().mm(S_->gather(Z_)));
    if (want_X) out.X.values = W;
    return out;
  }

 private:
  torch::Tensor propagate(const torch::Tensor& Z, bool adjoint) const {
    return adjoint ? S_->scatter(Z) : S_->gather(Z);
  }

  torch::Tensor residual(const torch::Tensor& X, const torch::Tensor& Z, bool adjoint) const {
    return propagate(Z, adjoint).mm(contraction_.gram()).mul_(scale_).add_(X).sub_(Z);
  }

  // Z ← Z + M⁻¹ r from Z = 0 until ‖r‖ ≤ goal (‖X‖ + ‖Z‖).
  torch::Tensor sweep(const torch::Tensor& X, double x_norm, double goal, bool adjoint,
                      int64_t& count) const {
    auto Z = torch::zeros_like(X), r = X;
    double r_norm = x_norm;
    bool apart = !deflation_.empty();
    while (r_norm > goal * (x_norm + Z.norm().item<double>())) {
      if (++count > options_.max_iterations) give_up(count);
      Z = Z + (apart ? precondition(r, adjoint) : r);
      r = residual(X, Z, adjoint);
      const double before = r_norm;
      r_norm = r.norm().item<double>();
      if (!std::isfinite(r_norm)) refuse_infinite();
      // Where S is far from normal the split may not pay; the recurrence itself converges for every S.
      if (r_norm > 0.5 * before) apart = false;
    }
    return Z + r;  // a step of the recurrence for nothing: r is there
  }

  torch::Tensor precondition(const torch::Tensor& r, bool adjoint) const {
    const auto& V = deflation_.V;
    const auto c = r.mm(V);
    const auto a = options_.gamma * deflation_.theta.unsqueeze(0);
    auto y = c;
    // To as many digits as an iteration outside can gain; asking the device after every step would cost more
    // than the steps.
    constexpr int asked_every = 8, most_steps = 400;
    constexpr double enough = 0.01;
    const double c_norm = c.norm().item<double>();
    for (int step = 1; step <= most_steps; ++step) {
      const auto next = torch::addcmul(c, a, propagate(y, adjoint));
      if (step % asked_every == 0 && (next - y).norm().item<double>() <= enough * c_norm) {
        y = next;
        break;
      }
      y = next;
    }
    return torch::addmm(r, y - c, V.t());
  }

  torch::Tensor solve(const torch::Tensor& X, bool adjoint, int64_t& count) const {
    const double tolerance = backward_tolerance(options_), x_norm = norm_of(X);
    count = 0;
    if (!std::isfinite(x_norm)) refuse_infinite();
    if (const int k = out_of_scale(x_norm); k != 0)
      return solve(X * std::ldexp(1.0, -k), adjoint, count).mul_(std::ldexp(1.0, k));
    if (!options_.tf32) return sweep(X, x_norm, tolerance, adjoint, count);
    // The residual obeys the same equation as Z, and its solution is what Z lacks.
    auto Z = torch::zeros_like(X), r = X;
    double r_norm = x_norm;
    constexpr int most_sweeps = 20;
    for (int sweeps = 0; r_norm > tolerance * (x_norm + Z.norm().item<double>()); ++sweeps) {
      if (sweeps == most_sweeps) give_up(count);
      {
        const ProductsInTf32 fast(true);
        Z = Z + sweep(r, r_norm, tf32_reduction, adjoint, count);
      }
      r = residual(X, Z, adjoint);
      r_norm = r.norm().item<double>();
    }
    return Z;
  }

  [[noreturn]] void give_up(int64_t count) const {
    throw InputError(fmt::format(
        "{} did not converge in {} iterations (γ {}, tolerance {:.1e}); use --solver auto, or a "
        "smaller γ",
        name_, std::min(count, options_.max_iterations), options_.gamma, backward_tolerance(options_)));
  }

  [[noreturn]] void refuse_infinite() const {
    throw InputError(
        fmt::format("a value is not finite ({}); check the features and weights for overflow", name_));
  }

  std::shared_ptr<const SparseProduct> S_;
  SolverOptions options_;
  Contraction contraction_;
  torch::Tensor scale_;  // γ/(ν+ε)
  const char* name_;
  Deflation deflation_;
  torch::Tensor Z_;
};

class RecurrenceSolver : public Solver {
 public:
  RecurrenceSolver(std::shared_ptr<const Propagation> S, const SolverOptions& options, bool deflated)
      : Solver(std::move(S), options), deflated_(deflated) {
    const Stopwatch watch;
    product_ = std::make_shared<SparseProduct>(*S_, options.dtype, options.device);
    preprocess_seconds_ = watch.seconds();
  }
  const char* name() const override { return name_of(deflated_); }

  std::shared_ptr<const Equilibrium> solve(const torch::Tensor& F, const torch::Tensor& X) override {
    const Stopwatch watch;
    auto solved = std::make_shared<RecurrenceEquilibrium>(product_, F, X.detach(), options_, deflated_);
    solved->seconds = watch.seconds();
    return solved;
  }

 private:
  std::shared_ptr<const SparseProduct> product_;
  bool deflated_;
};

}  // namespace

std::unique_ptr<Solver> make_picard(std::shared_ptr<const Propagation> S, const SolverOptions& options) {
  return std::make_unique<RecurrenceSolver>(std::move(S), options, /*deflated=*/false);
}

std::unique_ptr<Solver> make_deflated(std::shared_ptr<const Propagation> S, const SolverOptions& options) {
  return std::make_unique<RecurrenceSolver>(std::move(S), options, /*deflated=*/true);
}

}  // namespace eignn
