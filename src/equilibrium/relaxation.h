// The weights of Chebyshev's semi-iteration.
#pragma once

#include <torch/types.h>

namespace eignn {

/// Chebyshev's ω for the spectrum [-a, a], column by column: ω₁ = 1, ω₂ = 1/(1 - a²/2), then 1/(1 - a²
/// ω_k/4). For a directed graph all are 1.
class Relaxation {
 public:
  Relaxation(const torch::Tensor& a, bool symmetric)
      : quarter_(a.square() / 4), symmetric_(symmetric), omega_(torch::ones_like(a)) {}
  const torch::Tensor& omega() const { return omega_; }
  void advance() {
    if (!symmetric_) return;
    omega_ = 1 / (1 - quarter_ * (first_ ? 2 * omega_ : omega_));
    first_ = false;
  }

 private:
  torch::Tensor quarter_;
  bool symmetric_, first_ = true;
  torch::Tensor omega_;
};

}  // namespace eignn
