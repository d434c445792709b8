// spectral: the paper's closed form, for a symmetric S = QΛQᵀ and g = Q_F diag(μ) Q_Fᵀ.
//
//     Ẑ = (G ∘ (X̂ Q_F)) Q_Fᵀ,   G_ji = 1 / (1 - γ μ_i λ_j)
//     R = Q_F (W̃ᵀ Λ Z̃) Q_Fᵀ,    Z̃ = G ∘ (X̂ Q_F),  W̃ = G ∘ (Ŷ Q_F)
//
// The eigendecomposition of S costs O(Σ k³) over the components, once. A step costs one m×m
// eigendecomposition and O(n m²). There is no n×n product, since loss and gradient need node space only at
// the labelled rows.
#include <torch/torch.h>

#include "equilibrium/contraction.h"
#include "equilibrium/feature_cache.h"
#include "equilibrium/solvers.h"
#include "equilibrium/spectral/spectrum.h"
#include "equilibrium/stopwatch.h"

namespace eignn {

namespace {

class SpectralEquilibrium : public Equilibrium {
 public:
  SpectralEquilibrium(std::shared_ptr<const Spectrum> spectrum, const torch::Tensor& F,
                      const torch::Tensor& X_hat, const SolverOptions& options)
      : spectrum_(std::move(spectrum)), g_(F, options.gamma, options.epsilon) {
    // 1 - γμλ = (1 - γμ) + γμ(1 - λ): no cancellation, and λ = 1 is exact
    G_ = 1 / (g_.one_minus_a.unsqueeze(0) + spectrum_->one_minus_lambda.unsqueeze(1) * g_.a.unsqueeze(0));
    Z_tilde_ = G_ * X_hat.mm(g_.Q);
  }

  ScaledRows do_rows(const torch::Tensor& index) const override {
    if (!index.defined()) return {spectrum_->to_nodes(Z_tilde_.mm(g_.Q.t())), {}};
    return {spectrum_->rows_to_nodes(Z_tilde_, index).mm(g_.Q.t()), {}};
  }

  torch::Tensor do_project(const torch::Tensor& index, const torch::Tensor& C) const override {
    return spectrum_->rows_to_nodes(Z_tilde_.mm(g_.Q.t().mm(C)), index);
  }

  Moments do_moments() const override { return spectral_moments(spectrum_->ones(), Z_tilde_.mm(g_.Q.t())); }

  Gradients do_pull(const torch::Tensor& index, const ScaledRows& Y, bool want_X) const override {
    return do_pull_with_moments(index, Y, {}, want_X);
  }

  ScaledRows do_pull_X(const torch::Tensor& index, const ScaledRows& Y) const override {
    const auto W_tilde = G_ * spectrum_->rows_to_spectral(Y.plain(), index).mm(g_.Q);
    return {spectrum_->to_nodes(W_tilde.mm(g_.Q.t())), {}};
  }

  Gradients do_pull_with_moments(const torch::Tensor& index, const ScaledRows& Y, const Moments& moments,
                                 bool want_X) const override {
    auto Y_hat = spectrum_->rows_to_spectral(Y.plain(), index);
    if (moments.defined()) {
      const auto ones = spectrum_->ones(), Z_hat = Z_tilde_.mm(g_.Q.t());
      add_moments_cotangent_(Y_hat, ones, Z_hat, spectral_moments(ones, Z_hat).mean, Z_hat.size(0), moments);
    }
    const auto W_tilde = G_ * Y_hat.mm(g_.Q);
    const auto R_tilde = W_tilde.t().mm(spectrum_->lambda.unsqueeze(1) * Z_tilde_);
    Gradients out;
    out.F = g_.pullback(g_.Q.mm(R_tilde).mm(g_.Q.t()));
    if (want_X) out.X.values = spectrum_->to_nodes(W_tilde.mm(g_.Q.t()));
    return out;
  }

 private:
  std::shared_ptr<const Spectrum> spectrum_;
  DecomposedContraction g_;
  torch::Tensor G_, Z_tilde_;
};

class SpectralSolver : public Solver {
 public:
  SpectralSolver(std::shared_ptr<const Propagation> S, const SolverOptions& options)
      : Solver(std::move(S), options) {
    const Stopwatch watch;
    spectrum_ = std::make_shared<Spectrum>(*S_, options.dtype, options.device, options.store);
    preprocess_seconds_ = watch.seconds();
  }
  const char* name() const override { return "spectral"; }

  std::shared_ptr<Equilibrium> do_solve(const torch::Tensor& F, const torch::Tensor& X) override {
    const auto& X_hat = features_.get(X, [&](const torch::Tensor& x) { return spectrum_->to_spectral(x); });
    return std::make_shared<SpectralEquilibrium>(spectrum_, F, X_hat, options_);
  }

 private:
  std::shared_ptr<Spectrum> spectrum_;
  FeatureCache<torch::Tensor> features_;
};

}  // namespace

std::unique_ptr<Solver> make_spectral(std::shared_ptr<const Propagation> S, const SolverOptions& options) {
  return std::make_unique<SpectralSolver>(std::move(S), options);
}

}  // namespace eignn
