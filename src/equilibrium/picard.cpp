// picard: the recurrence itself, Z ← γ Sᵀ Z g + X, for any S.
//
// The step Z' - Z is minus the residual of Z, so stopping on it is a proven bound: ‖Z' - Z‖ ≤ tol (‖X‖ +
// ‖Z‖), and the returned Z' is one step better. O(K (n m² + nnz m)), K ≈ log(tol)/log(γ μ₁).
#include <fmt/format.h>
#include <torch/torch.h>

#include "eignn/error.h"
#include "equilibrium/contraction.h"
#include "equilibrium/solvers.h"
#include "equilibrium/sparse_product.h"
#include "equilibrium/stopwatch.h"
#include "equilibrium/tf32.h"
#include "equilibrium/tolerance.h"

namespace eignn {

namespace {

class PicardEquilibrium : public Equilibrium {
 public:
  PicardEquilibrium(std::shared_ptr<const SparseProduct> S, const torch::Tensor& F, const torch::Tensor& X,
                    const SolverOptions& options)
      : S_(std::move(S)), options_(options), contraction_(F, options.gamma, options.epsilon) {
    Z_ = iterate(X, false, iterations);
  }

  ScaledRows rows(const torch::Tensor& index) const override {
    return {index.defined() ? Z_.index_select(0, index) : Z_, {}};
  }

  Gradients pull(const torch::Tensor& index, const ScaledRows& cotangent, bool want_X) const override {
    auto Y = cotangent.plain();
    if (index.defined()) Y = torch::zeros_like(Z_).index_add_(0, index, Y);
    Gradients out;
    const auto W = iterate(Y, true, out.iterations);
    out.F = contraction_.pullback(W.t().mm(S_->gather(Z_)));
    if (want_X) out.X.values = W;
    return out;
  }

 private:
  torch::Tensor iterate(const torch::Tensor& X, bool adjoint, int64_t& count) const {
    const auto gamma_g = options_.gamma * contraction_.g();
    const auto hop = [&](const torch::Tensor& Z) {
      return (adjoint ? S_->scatter(Z) : S_->gather(Z)).mm(gamma_g);
    };
    const double tolerance = backward_tolerance(options_), x_norm = X.norm().item<double>();
    count = 0;
    // Z ← hop(Z) + B until a step is at most `goal` of its size; Z starts at B.
    const auto sweep = [&](const torch::Tensor& B, double b_norm, double goal) {
      auto Z = B;
      while (++count <= options_.max_iterations) {
        const auto next = hop(Z) + B;
        const double step = (next - Z).norm().item<double>(), z_norm = next.norm().item<double>();
        Z = next;
        if (step <= goal * (b_norm + z_norm)) return Z;
        if (!std::isfinite(z_norm)) break;
      }
      give_up(count, tolerance);
    };
    if (!options_.tf32) return sweep(X, x_norm, tolerance);
    // The residual obeys the same equation as Z, and its solution is what Z lacks.
    auto Z = X;
    constexpr int most_sweeps = 20;
    for (int sweeps = 0; sweeps < most_sweeps; ++sweeps) {
      const auto residual = hop(Z) + X - Z;
      const double r_norm = residual.norm().item<double>();
      if (r_norm <= tolerance * (x_norm + Z.norm().item<double>())) return Z;
      const ProductsInTf32 fast(true);
      Z = Z + sweep(residual, r_norm, tf32_reduction);
    }
    give_up(count, tolerance);
  }

  [[noreturn]] void give_up(int64_t count, double tolerance) const {
    throw InputError(
        fmt::format("picard did not converge in {} iterations (γ {}, tolerance {:.1e}); use --solver auto, "
                    "or a smaller γ",
                    std::min(count, options_.max_iterations), options_.gamma, tolerance));
  }

  std::shared_ptr<const SparseProduct> S_;
  SolverOptions options_;
  Contraction contraction_;
  torch::Tensor Z_;
};

class PicardSolver : public Solver {
 public:
  PicardSolver(std::shared_ptr<const Propagation> S, const SolverOptions& options)
      : Solver(std::move(S), options) {
    const Stopwatch watch;
    product_ = std::make_shared<SparseProduct>(*S_, options.dtype, options.device);
    preprocess_seconds_ = watch.seconds();
  }
  const char* name() const override { return "picard"; }

  std::shared_ptr<const Equilibrium> solve(const torch::Tensor& F, const torch::Tensor& X) override {
    const Stopwatch watch;
    auto solved = std::make_shared<PicardEquilibrium>(product_, F, X.detach(), options_);
    solved->seconds = watch.seconds();
    return solved;
  }

 private:
  std::shared_ptr<const SparseProduct> product_;
};

}  // namespace

std::unique_ptr<Solver> make_picard(std::shared_ptr<const Propagation> S, const SolverOptions& options) {
  return std::make_unique<PicardSolver>(std::move(S), options);
}

}  // namespace eignn
