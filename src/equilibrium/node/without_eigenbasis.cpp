// With one ω for all columns the semi-iteration of sparse_iteration.cpp needs no eigenbasis of g:
//
//     r = X + γ Sᵀ Z_k g - Z_k,   Z_k+1 = Z_k-1 + ω_k+1 (r + Z_k - Z_k-1),   Z_0 = X
//
// The spectrum of γ S⊗g lies in [-a, a] with a = γ μ̄ for any μ̄ ≥ μ₁, and μ₁ ≤ ‖g⁸‖_F^(1/8), which takes three
// products m×m. The number K of steps follows before the first one: the residual falls by q = a/(1 + √(1-a²))
// per step for a symmetric S, by a for others (Neumann's series). It is looked at once, after K steps; more
// follow only where S is far from normal.
//
// A step costs a product n×m×m and one with S. On a GPU an eigendecomposition of a small g takes as long as
// dozens of them, and every residual that the host reads as long as several.
#include "equilibrium/node/without_eigenbasis.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "equilibrium/node/node_space.h"
#include "equilibrium/node/relaxation.h"
#include "equilibrium/scale.h"
#include "equilibrium/tf32.h"

namespace eignn {

namespace {

// ‖g⁸‖_F^(1/8) ≥ μ₁, at most 1. A little above, for FᵀF is rounded.
double bound_of_mu(const Contraction& contraction) {
  auto power = contraction.g().to(torch::kFloat64);
  for (int k = 0; k < 3; ++k) power = power.mm(power);
  constexpr double rounding = 1 + 1e-5;
  return std::min(1.0, rounding * std::pow(power.norm().item<double>(), 1.0 / 8));
}

class WithoutEigenbasis : public NodeSpaceEquilibrium {
 public:
  WithoutEigenbasis(std::shared_ptr<const NodeOperator> S, const torch::Tensor& F,
                    const SolverOptions& options)
      : NodeSpaceEquilibrium("sparse", std::move(S), F, options),
        a_(options.gamma * bound_of_mu(contraction_)),
        products_(products_of_semi_iteration(a_, S_->symmetric(), backward_tolerance(options))) {}

  int64_t products() const { return products_; }
  void solve_for(const torch::Tensor& X) { Z_ = solve(X, /*adjoint=*/false, iterations_); }

  ScaledRows do_pull_X(const torch::Tensor& index, const ScaledRows& Y) const override {
    int64_t count = 0;
    return {solve_adjoint(index, Y.plain(), count), {}};
  }

 private:
  torch::Tensor solve_adjoint(const torch::Tensor& index, const torch::Tensor& Y,
                              int64_t& count) const override {
    return solve(at_all_nodes(index, Y), /*adjoint=*/true, count);
  }

  torch::Tensor solve(const torch::Tensor& X, bool adjoint, int64_t& count) const {
    const ProductsInTf32 in_full(false, X.device());
    const double tolerance = backward_tolerance(options_), x_norm = norm_of(*S_, X);
    count = 0;
    refuse_infinite(x_norm);
    if (const int k = out_of_scale(x_norm); k != 0)
      return solve(X * std::ldexp(1.0, -k), adjoint, count).mul_(std::ldexp(1.0, k));
    Relaxation<double> relaxation(a_, S_->symmetric());
    auto now = X, last = X;
    for (;;) {
      if (++count > options_.max_iterations) give_up(count);
      auto r = residual(X, now, adjoint);
      if (count >= products_) {
        const double r_norm = S_->norm(r);
        refuse_infinite(r_norm);
        if (r_norm <= tolerance * (x_norm + S_->norm(now))) return now + r;  // one more step at no cost
      }
      last = std::exchange(now, torch::lerp(last, r.add_(now), relaxation.omega()));
      relaxation.advance();
    }
  }

  double a_;
  int64_t products_;
};

}  // namespace

// ‖r_k‖ ≤ 2 qᵏ ‖r_0‖ and ‖r_0‖ ≤ a ‖X‖; the product that shows r_k is one more.
int64_t products_of_semi_iteration(double a, bool symmetric, double tolerance) {
  if (a >= 1) return std::numeric_limits<int64_t>::max();
  const double q = symmetric ? a / (1 + std::sqrt(1 - a * a)) : a, first = (symmetric ? 2 : 1) * a;
  if (first <= tolerance) return 1;
  return 1 + static_cast<int64_t>(std::ceil(std::log(tolerance / first) / std::log(q)));
}

std::shared_ptr<Equilibrium> solve_without_eigenbasis(std::shared_ptr<const NodeOperator> S,
                                                      const torch::Tensor& F, const torch::Tensor& X,
                                                      const SolverOptions& options) {
  if (X.size(1) > most_features_without_eigenbasis) return nullptr;
  auto out = std::make_shared<WithoutEigenbasis>(std::move(S), F, options);
  if (out->products() > most_products_without_eigenbasis) return nullptr;
  out->solve_for(X.detach());
  return out;
}

}  // namespace eignn
