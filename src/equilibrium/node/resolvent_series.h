// 1/(1 - aλ) as a series in λ, for many a at once: what a symmetric S does to Z, separated from what g does.
//
//     1/(1 - aλ) = Σ_p c_p(a) T_p(λ),   c_p = (2 - δ_p0) q^p / s,   s = √(1-a²),   q = a/(1+s),   |λ| ≤ 1
//
// chebyshev.h has the same function as a series in μ, of which a = γμ.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace eignn {

class ResolventSeries {
 public:
  /// `a` in [0, 1) and ascending, (m,) in float64. The terms left out are, of value and derivative, at most
  /// `tolerance`; where that takes more than `most_terms` the series is of no use.
  ResolventSeries(const torch::Tensor& a, const torch::Tensor& one_minus_a, double tolerance,
                  int64_t most_terms);

  bool converges() const { return converges_; }
  /// How many terms the last a takes.
  int64_t terms() const { return terms_.back(); }
  /// The first a that term p still has a part in.
  int64_t first(int64_t p) const;

  /// c_p for p < terms(): (terms, m).
  torch::Tensor coefficients() const;

  /// Divided differences (c_p(a_i) - c_p(a_j)) / (a_i - a_j), (m, m), for p = 0, 1, …; the derivative where
  /// the two are equal. Nothing in them cancels.
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
