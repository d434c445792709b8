// picard: the recurrence Z ← γ Sᵀ Z g + X, for any S, without an eigendecomposition.
//
// With r = X - Z + γ Sᵀ Z g a step is Z ← Z + r. A step costs O(n m² + nnz m), and K ≈ log(tol)/log(γ μ₁)
// steps are needed. Stops when the true residual satisfies ‖r‖ ≤ tol (‖X‖ + ‖Z‖), and returns the Z of one
// step further.
#include <torch/torch.h>

#include "eignn/interrupt.h"
#include "equilibrium/node/node_space.h"
#include "equilibrium/scale.h"
#include "equilibrium/solvers.h"
#include "equilibrium/sparse_product.h"
#include "equilibrium/stopwatch.h"
#include "equilibrium/tf32.h"

namespace eignn {

namespace {

class PicardEquilibrium : public NodeSpaceEquilibrium {
 public:
  PicardEquilibrium(std::shared_ptr<const NodeOperator> S, const torch::Tensor& F, const torch::Tensor& X,
                    const SolverOptions& options)
      : NodeSpaceEquilibrium("picard", std::move(S), F, options) {
    Z_ = solve(X, /*adjoint=*/false, iterations_);
  }

 private:
  torch::Tensor solve_adjoint(const torch::Tensor& index, const torch::Tensor& Y,
                              int64_t& count) const override {
    return solve(at_all_nodes(index, Y), /*adjoint=*/true, count);
  }

  // Z ← Z + r from Z = 0 until ‖r‖ ≤ goal (‖X‖ + ‖Z‖).
  torch::Tensor sweep(const torch::Tensor& X, double x_norm, double goal, bool adjoint,
                      int64_t& count) const {
    auto Z = torch::zeros_like(X), r = X;
    double r_norm = x_norm;
    while (r_norm > goal * (x_norm + S_->norm(Z))) {
      if (++count > options_.max_iterations) give_up(count);
      check_interrupt();
      Z = Z + r;
      r = residual(X, Z, adjoint);
      r_norm = S_->norm(r);
      refuse_infinite(r_norm);
    }
    return Z + r;  // one more step at no cost
  }

  torch::Tensor solve(const torch::Tensor& X, bool adjoint, int64_t& count) const {
    const double tolerance = backward_tolerance(options_), x_norm = norm_of(*S_, X);
    count = 0;
    refuse_infinite(x_norm);
    if (const int k = out_of_scale(x_norm); k != 0)
      return solve(X * std::ldexp(1.0, -k), adjoint, count).mul_(std::ldexp(1.0, k));
    if (!options_.tf32) return sweep(X, x_norm, tolerance, adjoint, count);
    // Iterative refinement: the error of Z solves the same equation with r in place of X.
    auto Z = torch::zeros_like(X), r = X;
    double r_norm = x_norm;
    constexpr int most_sweeps = 20;
    for (int sweeps = 0; r_norm > tolerance * (x_norm + S_->norm(Z)); ++sweeps) {
      if (sweeps == most_sweeps) give_up(count);
      {
        const ProductsInTf32 fast(true, X.device());
        Z = Z + sweep(r, r_norm, tf32_reduction, adjoint, count);
      }
      r = residual(X, Z, adjoint);
      r_norm = S_->norm(r);
    }
    return Z;
  }
};

class PicardSolver : public Solver {
 public:
  PicardSolver(std::shared_ptr<const Propagation> S, const SolverOptions& options,
               std::shared_ptr<const NodeOperator> product)
      : Solver(std::move(S), options), product_(std::move(product)) {
    const Stopwatch watch;
    if (!product_) product_ = std::make_shared<SparseProduct>(S_, options.dtype, options.device);
    preprocess_seconds_ = watch.seconds();
  }
  const char* name() const override { return "picard"; }

  std::shared_ptr<Equilibrium> do_solve(const torch::Tensor& F, const torch::Tensor& X) override {
    return std::make_shared<PicardEquilibrium>(product_, F, X.detach(), options_);
  }

 private:
  std::shared_ptr<const NodeOperator> product_;
};

}  // namespace

std::unique_ptr<Solver> make_picard(std::shared_ptr<const Propagation> S, const SolverOptions& options,
                                    std::shared_ptr<const NodeOperator> product) {
  return std::make_unique<PicardSolver>(std::move(S), options, std::move(product));
}

}  // namespace eignn
