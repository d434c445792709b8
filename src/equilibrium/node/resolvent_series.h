// 1/(1 - aλ) as a series in λ, for many a at once. It separates the effect of a symmetric S on Z from that of
// g.
//
//     1/(1 - aλ) = Σ_p c_p(a) T_p(λ),   c_p = (2 - δ_p0) q^p / s,   s = √(1-a²),   q = a/(1+s),   |λ| ≤ 1
//
// chebyshev.h has the same function, with a = γμ, as a series in μ.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace eignn {

class ResolventSeries {
 public:
  /// `a` is in [0, 1) and ascending, (m,) in float64. The terms left out sum to at most `tolerance`, in the
  /// value and in the derivative. Where that takes more than `most_terms`, converges() is false.
  ResolventSeries(const torch::Tensor& a, const torch::Tensor& one_minus_a, double tolerance,
                  int64_t most_terms);

  bool converges() const { return converges_; }
  /// The number of terms for the largest a.
  int64_t terms() const { return terms_.back(); }
  /// Index of the first a whose series has a term p; so have all after it.
  int64_t first(int64_t p) const;

  /// c_p for p < terms(): (terms, m).
  torch::Tensor coefficients() const;

  /// Divided differences (c_p(a_i) - c_p(a_j)) / (a_i - a_j), (m, m), for p = 0, 1, …; the derivative where
  /// a_i = a_j. Computed without cancellation.
  class Slopes {
   public:
    explicit Slopes(const ResolventSeries& series);
    torch::Tensor next();

   private:
    torch::Tensor q_, weight_, weight_slope_, q_slope_;
    torch::Tensor power_;     // q^p
    torch::Tensor quotient_;  // (q_i^p - q_j^p) / (q_i - q_j)
    bool first_ = true;
  };

 private:
  torch::Tensor a_, s_, q_;
  std::vector<int64_t> terms_;
  bool converges_ = true;
};

}  // namespace eignn
