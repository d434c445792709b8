// krylov: no eigendecomposition of g. In the eigenbasis of a symmetric S column j of the problem reads
//
//     (I - γ λ_j g) ẑ_j = x̂_j
//
// n symmetric positive definite systems that share one matrix, so conjugate gradients on all of them at once
// is one product with g per iteration (2 n m² flops, one read and one write of five n×m arrays). Stops when
// the recomputed residual has ‖r‖ ≤ tol (‖X‖ + ‖Z‖). Starts from the last solution, which after one optimiser
// step is nearly right.
#include <fmt/format.h>
#include <torch/torch.h>

#include "eignn/error.h"
#include "equilibrium/contraction.h"
#include "equilibrium/feature_cache.h"
#include "equilibrium/solvers.h"
#include "equilibrium/spectrum.h"
#include "equilibrium/stopwatch.h"
#include "equilibrium/tf32.h"
#include "equilibrium/tolerance.h"

namespace eignn {

namespace {

// A P = P - γ Λ P g, rows are nodes' spectral coordinates.
struct ShiftedSystems {
  torch::Tensor g, gamma_lambda;  // (m, m), (n, 1)
  torch::Tensor operator()(const torch::Tensor& P) const {
    return torch::addcmul(P, gamma_lambda, P.mm(g), -1);
  }
};

torch::Tensor row_dots(const torch::Tensor& a, const torch::Tensor& b) {
  // One pass over memory on a GPU; on a CPU a batch of dot products would be a batch of calls.
  if (a.is_cuda()) return a.unsqueeze(1).bmm(b.unsqueeze(2)).squeeze(2);
  return (a * b).sum(1, /*keepdim=*/true);
}

// Solves A Z = X for every row, starting from Z. Returns the number of products with g.
int64_t conjugate_gradients(const ShiftedSystems& A, const torch::Tensor& X, const SolverOptions& options,
                            torch::Tensor& Z) {
  const double tolerance = backward_tolerance(options), x_norm = X.norm().item<double>();
  int64_t products = 0;
  // Each round starts from a recomputed residual: the recurrence's own drifts when the condition number is
  // large.
  constexpr int most_rounds = 20;  // by then the recurrence and the recomputed residual will never agree
  for (int round = 0; round < most_rounds && products <= options.max_iterations; ++round) {
    auto r = X - A(Z);  // r = x - A z
    ++products;
    auto rho = row_dots(r, r);  // ρ = ⟨r, r⟩, a row each
    double r_norm = rho.sum().sqrt().item<double>();
    if (!std::isfinite(r_norm))
      throw InputError("a value is not finite (krylov); check the features and weights for overflow");
    const double bound = tolerance * (x_norm + Z.norm().item<double>());
    if (r_norm <= bound) return products;
    const ProductsInTf32 sweep(options.tf32);
    const double goal = options.tf32 ? std::max(bound, tf32_reduction * r_norm) : bound;
    auto p = r.clone();
    Z = Z.clone();  // what the caller gave is not ours to change
    while (products <= options.max_iterations && r_norm > goal) {
      const auto q = A(p);  // q = A p
      ++products;
      const auto alpha =
          torch::where(rho > 0, rho / row_dots(p, q), torch::zeros_like(rho));  // α = ρ / ⟨p, q⟩
      Z.addcmul_(alpha, p);
      r.addcmul_(alpha, q, -1);
      const auto next = row_dots(r, r);
      const auto beta = torch::where(rho > 0, next / rho, torch::zeros_like(rho));  // β = ρ' / ρ
      p.mul_(beta).add_(r);
      rho = next;
      r_norm = rho.sum().sqrt().item<double>();
    }
  }
  throw InputError(
      fmt::format("krylov did not converge in {} products (γ {}, tolerance {:.1e}); use --solver spectral",
                  products, options.gamma, tolerance));
}

// The last solutions, forward and adjoint, that the next solve starts from.
struct WarmStart {
  torch::Tensor Z_hat, W_hat;
  static torch::Tensor from(const torch::Tensor& last, const torch::Tensor& X) {
    return last.defined() && last.sizes() == X.sizes() ? last : X;
  }
};

class KrylovEquilibrium : public Equilibrium {
 public:
  KrylovEquilibrium(std::shared_ptr<const Spectrum> spectrum, const torch::Tensor& F,
                    const torch::Tensor& X_hat, const SolverOptions& options, std::shared_ptr<WarmStart> warm)
      : spectrum_(std::move(spectrum)),
        options_(options),
        contraction_(F, options.gamma, options.epsilon),
        A_{contraction_.g(), options.gamma * spectrum_->lambda.unsqueeze(1)},
        warm_(std::move(warm)) {
    Z_hat_ = WarmStart::from(warm_->Z_hat, X_hat);
    iterations = conjugate_gradients(A_, X_hat, options_, Z_hat_);
    warm_->Z_hat = Z_hat_;
  }

  ScaledRows rows(const torch::Tensor& index) const override {
    return {spectrum_->rows_to_nodes(Z_hat_, index), {}};
  }

  Gradients pull(const torch::Tensor& index, const ScaledRows& Y, bool want_X) const override {
    const auto Y_hat = spectrum_->rows_to_spectral(Y.plain(), index);
    Gradients out;
    auto W_hat = WarmStart::from(warm_->W_hat, Y_hat);
    out.iterations = conjugate_gradients(A_, Y_hat, options_, W_hat);
    warm_->W_hat = W_hat;
    out.F = contraction_.pullback(W_hat.t().mm(spectrum_->lambda.unsqueeze(1) * Z_hat_));
    if (want_X) out.X.values = spectrum_->to_nodes(W_hat);
    return out;
  }

 private:
  std::shared_ptr<const Spectrum> spectrum_;
  SolverOptions options_;
  Contraction contraction_;
  ShiftedSystems A_;
  std::shared_ptr<WarmStart> warm_;
  torch::Tensor Z_hat_;
};

class KrylovSolver : public Solver {
 public:
  KrylovSolver(std::shared_ptr<const Propagation> S, const SolverOptions& options)
      : Solver(std::move(S), options) {
    const Stopwatch watch;
    spectrum_ = std::make_shared<Spectrum>(*S_, options.dtype, options.device, options.store);
    preprocess_seconds_ = watch.seconds();
  }
  const char* name() const override { return "krylov"; }

  std::shared_ptr<const Equilibrium> solve(const torch::Tensor& F, const torch::Tensor& X) override {
    const Stopwatch watch;
    const auto& X_hat = features_.get(X, [&](const torch::Tensor& x) { return spectrum_->to_spectral(x); });
    auto solved = std::make_shared<KrylovEquilibrium>(spectrum_, F, X_hat, options_, warm_);
    solved->seconds = watch.seconds();
    return solved;
  }

  std::vector<torch::Tensor> memory() const override { return {warm_->Z_hat, warm_->W_hat}; }
  void restore(const std::vector<torch::Tensor>& memory) override {
    if (memory.size() == 2) *warm_ = {memory[0], memory[1]};
  }

 private:
  std::shared_ptr<Spectrum> spectrum_;
  std::shared_ptr<WarmStart> warm_ = std::make_shared<WarmStart>();
  FeatureCache features_;
};

}  // namespace

std::unique_ptr<Solver> make_krylov(std::shared_ptr<const Propagation> S, const SolverOptions& options) {
  return std::make_unique<KrylovSolver>(std::move(S), options);
}

}  // namespace eignn
