// The weights of Chebyshev's semi-iteration.
#pragma once

#include <torch/types.h>

namespace eignn {

/// Chebyshev's ω for the spectrum [-a, a]: ω₁ = 1, ω₂ = 1/(1 - a²/2), then ω_k+1 = 1/(1 - a² ω_k/4). For a
/// directed graph all are 1. `Numbers` is a tensor with an a per column, or a double.
template <class Numbers>
class Relaxation {
 public:
  Relaxation(const Numbers& a, bool symmetric)
      : quarter_(a * a / 4), symmetric_(symmetric), omega_(0 * a + 1) {}
  const Numbers& omega() const { return omega_; }
  void advance() {
    if (!symmetric_) return;
    omega_ = 1 / (1 - quarter_ * (first_ ? 2 * omega_ : omega_));
    first_ = false;
  }

 private:
  Numbers quarter_;
  bool symmetric_, first_ = true;
  Numbers omega_;
};

}  // namespace eignn
