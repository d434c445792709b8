// krylov: no eigendecomposition of g. In the eigenbasis of a symmetric S column j of the problem reads
//
//     (I - γ λ_j g) ẑ_j = x̂_j
//
// n symmetric positive definite systems that share one matrix, so conjugate gradients on all of them at once
// is one product with g per iteration (2 n m² flops, one read and one write of five n×m arrays). Stops when
// the recomputed residual has ‖r‖ ≤ tol (‖X‖ + ‖Z‖). Starts from the last solution, which after one optimiser
// step is nearly right.
#include <torch/torch.h>

#include "equilibrium/conjugate_gradients.h"
#include "equilibrium/contraction.h"
#include "equilibrium/feature_cache.h"
#include "equilibrium/solvers.h"
#include "equilibrium/spectrum.h"
#include "equilibrium/stopwatch.h"

namespace eignn {

namespace {

// A P = P - γ Λ P g, rows are nodes' spectral coordinates.
struct ShiftedSystems {
  torch::Tensor g, gamma_lambda;  // (m, m), (n, 1)
  torch::Tensor operator()(const torch::Tensor& P) const {
    return torch::addcmul(P, gamma_lambda, P.mm(g), -1);
  }
};

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
    iterations = solve(X_hat, Z_hat_);
    warm_->Z_hat = Z_hat_;
  }

  ScaledRows rows(const torch::Tensor& index) const override {
    return {spectrum_->rows_to_nodes(Z_hat_, index), {}};
  }

  Gradients pull(const torch::Tensor& index, const ScaledRows& Y, bool want_X) const override {
    const auto Y_hat = spectrum_->rows_to_spectral(Y.plain(), index);
    Gradients out;
    auto W_hat = WarmStart::from(warm_->W_hat, Y_hat);
    out.iterations = solve(Y_hat, W_hat);
    warm_->W_hat = W_hat;
    out.F = contraction_.pullback(W_hat.t().mm(spectrum_->lambda.unsqueeze(1) * Z_hat_));
    if (want_X) out.X.values = spectrum_->to_nodes(W_hat);
    return out;
  }

 private:
  int64_t solve(const torch::Tensor& X_hat, torch::Tensor& Z_hat) const {
    return conjugate_gradients(A_, X_hat, Systems::rows, options_, "krylov", "use --solver spectral", Z_hat);
  }

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
