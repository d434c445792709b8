// (I - γλ g)⁻¹ for many λ at once as one series in g. All eigenvalues of g lie in [0, 1], since ‖g‖_F < 1:
//
//     1/(1 - aμ) = Σ_p α_p T_p(2μ - 1),   α_p = (2 - δ_p0) q^p / √(1-a),   q = (a/2) / (1 - a/2 + √(1-a))
//
// with a = γλ, for every |a| < 1. How many terms are enough follows from γ and the precision alone, before
// anything is computed.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <utility>

namespace eignn {

/// The least number of terms, two or more, for which the sum Σ |α_p| of those left out is at most `tolerance`
/// for every |λ| ≤ 1; γ < 1.
int64_t chebyshev_terms(double gamma, double tolerance);

/// α_p(λ_j) as (r, terms), in the type of λ.
torch::Tensor chebyshev_coefficients(const torch::Tensor& lambda, double gamma, int64_t terms);

/// 2(2g - I) of a batch: `matrix` (b, m, m), or factor · matrix - 2I where `factor` is defined, which saves a
/// pass over m² numbers.
struct TwiceArgument {
  torch::Tensor matrix, factor;

  TwiceArgument() = default;
  TwiceArgument(torch::Tensor formed) : matrix(std::move(formed)) {}
  /// Of one g = scale · gram.
  TwiceArgument(const torch::Tensor& gram, const torch::Tensor& scale);
};

/// P_p = P_0 T_p(2g - I) for p < terms, of a batch: P_0 is (b, k, m), g (b, m, m) symmetric, P (terms, b, k,
/// m). One product with a thin factor per term.
class ChebyshevChain {
 public:
  /// recorded: this will be captured in a CUDA graph, so avoid the kernel that synchronises the grid (a
  /// cooperative launch).
  ChebyshevChain(int64_t terms, int64_t batch, int64_t rows, int64_t m, const torch::TensorOptions& type,
                 bool recorded = false)
      : P(torch::empty({terms, batch, rows, m}, type)), recorded_(recorded) {}

  torch::Tensor P;

  void run(const torch::Tensor& P0, const TwiceArgument& argument);

  struct Pulled {
    torch::Tensor P0;           // ∂L/∂P_0 (b, k, m)
    torch::Tensor left, right;  // ∂L/∂g = leftᵀ right, not symmetrised: (b, k (terms-1), m)

    torch::Tensor g() const { return left.transpose(1, 2).bmm(right); }
  };
  /// Runs the recurrence backwards for the cotangents of P, which may be overwritten.
  Pulled pull(torch::Tensor cotangent, const TwiceArgument& argument) const;

 private:
  bool recorded_;
};

/// 2(2g - I) with g = scale · gram, of a batch: gram is (b, m, m), scale (b, 1, 1) or one for all.
torch::Tensor twice_argument_of(const torch::Tensor& gram, const torch::Tensor& scale);

/// Σ_p α_p(λ_j) X̂_j P_pᵀ for the P of a chain with b·k columns altogether: (r, b·k).
torch::Tensor chebyshev_sum(const torch::Tensor& X_hat, const torch::Tensor& alpha, const torch::Tensor& P);
/// ∂L/∂P (terms, b·k, m) for the cotangent D (r, b·k) of that sum.
torch::Tensor pull_chebyshev_sum(const torch::Tensor& X_hat, const torch::Tensor& alpha,
                                 const torch::Tensor& D);

}  // namespace eignn
