// truncated: the k eigenpairs Q_k, Λ_k of a symmetric S of largest magnitude in the place of all, with
// g = Q_F diag(μ) Q_Fᵀ.
//
//     Z = X + Q_k ((G - 1) ∘ (X̂ Q_F)) Q_Fᵀ,   X̂ = Q_kᵀ X,   G_ji = 1 / (1 - γ μ_i λ_j)
//     W = Y + Q_k ((G - 1) ∘ (Ŷ Q_F)) Q_Fᵀ,   R = Q_F (W̃ᵀ Λ_k Z̃) Q_Fᵀ
//
// This is the equilibrium of S_k = Q_k Λ_k Q_kᵀ, and these are its adjoint and its gradient, exactly. It is
// an approximation of that of S: in the eigenbasis of S what is left out is (G - 1) ∘ (X̂ Q_F) at the other
// eigenvalues, where |G - 1| ≤ b/(1 - b), so that
//
//     ‖Z - Z_exact‖_F ≤ b/(1 - b) ‖X - Q_k Q_kᵀ X‖_F,   b = γ μ₁ |λ_{k+1}|
//
// The eigenpairs cost some hundred products with S and O(n k²) once (leading_pairs.h), and n·k numbers of
// memory. A step costs one m×m eigendecomposition, O(k m²) and O(k m) for each node that is read.
#include "equilibrium/spectral/truncated.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "equilibrium/contraction.h"
#include "equilibrium/feature_cache.h"
#include "equilibrium/solvers.h"
#include "equilibrium/spectral/leading_pairs.h"
#include "equilibrium/spectral/spectrum.h"
#include "equilibrium/stopwatch.h"

namespace eignn {

namespace {

// b/(1 - b), without cancellation where b is near 1.
double gain_of_rest(double a, double one_minus_a, double next) {
  return a * next / (one_minus_a + a * (1 - next));
}

class TruncatedEquilibrium : public Equilibrium {
 public:
  TruncatedEquilibrium(std::shared_ptr<const LeadingSpectrum> spectrum,
                       std::shared_ptr<const FeaturesInRange> source, const torch::Tensor& F,
                       const SolverOptions& options)
      : spectrum_(std::move(spectrum)), source_(std::move(source)), g_(F, options.gamma, options.epsilon) {
    // 1 - γμλ = (1 - γμ) + γμ(1 - λ), and G - 1 = γμλ G: no cancellation
    const auto a = g_.a.unsqueeze(0);
    G_ = 1 / (g_.one_minus_a.unsqueeze(0) + spectrum_->one_minus_lambda.unsqueeze(1) * a);
    G_minus_1_ = range().lambda.unsqueeze(1) * a * G_;
    const auto X_tilde = source_->X_hat.mm(g_.Q);
    Z_tilde_ = G_ * X_tilde;
    change_ = (G_minus_1_ * X_tilde).mm(g_.Q.t());
  }

  ScaledRows do_rows(const torch::Tensor& index) const override {
    return {source_->rows(index) + range().to_nodes(change_, index), {}};
  }

  torch::Tensor do_project(const torch::Tensor& index, const torch::Tensor& C) const override {
    return source_->rows(index).mm(C) + range().to_nodes(change_.mm(C), index);
  }

  Moments do_moments() const override { return source_->moments(range(), Z_hat(), change_); }

  Gradients do_pull(const torch::Tensor& index, const ScaledRows& Y, bool want_X) const override {
    const auto plain = Y.plain(), Y_tilde = range().to_spectral(plain, index).mm(g_.Q);
    Gradients out = pull_spectral(Y_tilde);
    if (want_X) out.X = to_nodes(Y_tilde, index, plain);
    return out;
  }

  ScaledRows do_pull_X(const torch::Tensor& index, const ScaledRows& Y) const override {
    const auto plain = Y.plain();
    return to_nodes(range().to_spectral(plain, index).mm(g_.Q), index, plain);
  }

  Gradients do_pull_with_moments(const torch::Tensor& index, const ScaledRows& Y, const Moments& moments,
                                 bool want_X) const override {
    if (want_X) return Equilibrium::do_pull_with_moments(index, Y, moments, want_X);
    auto Y_hat = range().to_spectral(Y.plain(), index);
    add_moments_cotangent_(Y_hat, range().ones, Z_hat(), source_->mean(range(), change_), range().nodes,
                           moments);
    return pull_spectral(Y_hat.mm(g_.Q));
  }

  std::optional<ErrorBound> do_error_bound() const override {
    const int64_t top = g_.mu.size(0) - 1;
    const double left_out = source_->rest_squares.sum().item<double>();
    ErrorBound out;
    out.eigenpairs = range().lambda.size(0);
    out.next_eigenvalue = spectrum_->next;
    out.bound = gain_of_rest(g_.a[top].item<double>(), g_.one_minus_a[top].item<double>(), spectrum_->next) *
                std::sqrt(left_out);
    out.size = std::sqrt(left_out + Z_tilde_.square().sum().item<double>());
    return out;
  }

 private:
  const RangeOfS& range() const { return spectrum_->range; }
  torch::Tensor Z_hat() const { return Z_tilde_.mm(g_.Q.t()); }

  Gradients pull_spectral(const torch::Tensor& Y_tilde) const {
    const auto R_tilde = (G_ * Y_tilde).t().mm(range().lambda.unsqueeze(1) * Z_tilde_);
    Gradients out;
    out.F = g_.pullback(g_.Q.mm(R_tilde).mm(g_.Q.t()));
    return out;
  }

  ScaledRows to_nodes(const torch::Tensor& Y_tilde, const torch::Tensor& index,
                      const torch::Tensor& Y) const {
    auto W = range().to_nodes((G_minus_1_ * Y_tilde).mm(g_.Q.t()), {});
    return {index.defined() ? W.index_add_(0, index, Y) : W.add_(Y), {}};
  }

  std::shared_ptr<const LeadingSpectrum> spectrum_;
  std::shared_ptr<const FeaturesInRange> source_;
  DecomposedContraction g_;
  torch::Tensor G_, G_minus_1_;     // (k, m)
  torch::Tensor Z_tilde_, change_;  // G ∘ (X̂ Q_F), and Ẑ - X̂
};

class TruncatedSolver : public Solver {
 public:
  TruncatedSolver(std::shared_ptr<const Propagation> S, const SolverOptions& options)
      : Solver(std::move(S), options) {
    const Stopwatch watch;
    spectrum_ = std::make_shared<const LeadingSpectrum>(*S_, options);
    preprocess_seconds_ = watch.seconds();
  }
  const char* name() const override { return "truncated"; }
  bool approximates() const override { return true; }

  std::shared_ptr<Equilibrium> do_solve(const torch::Tensor& F, const torch::Tensor& X) override {
    const auto& source = features_.get(X, [&](const torch::Tensor& x) {
      return std::make_shared<const FeaturesInRange>(spectrum_->range, x);
    });
    return std::make_shared<TruncatedEquilibrium>(spectrum_, source, F, options_);
  }

 private:
  std::shared_ptr<const LeadingSpectrum> spectrum_;
  FeatureCache<std::shared_ptr<const FeaturesInRange>> features_;
};

int64_t pairs_asked_for(const Propagation& S, const SolverOptions& options) {
  constexpr int64_t usual = 64;
  return options.eigenpairs == 0 ? std::min(usual, S.nodes) : options.eigenpairs;
}

LeadingSpectrum in_type(const LeadingPairs& pairs, const SolverOptions& options) {
  const auto there = [&](const torch::Tensor& t) { return t.to(options.device, options.dtype); };
  return {RangeOfS(there(pairs.lambda), there(pairs.Q)), there(pairs.one_minus_lambda), pairs.next};
}

}  // namespace

LeadingSpectrum::LeadingSpectrum(const Propagation& S, const SolverOptions& options)
    : LeadingSpectrum(in_type(leading_pairs(S, pairs_asked_for(S, options)), options)) {}

double worst_gain_of_rest(const LeadingSpectrum& spectrum, double gamma) {
  return gain_of_rest(gamma, 1 - gamma, spectrum.next);
}

std::unique_ptr<Solver> make_truncated(std::shared_ptr<const Propagation> S, const SolverOptions& options) {
  return std::make_unique<TruncatedSolver>(std::move(S), options);
}

}  // namespace eignn
