// One step of Adam (Kingma, Ba, 2015, algorithm 1) with an L2 penalty in the gradient, as torch::optim::Adam
// has it, or of AdamW (Loshchilov, Hutter, 2019), whose decay shrinks the weights themselves. The CPU loop,
// the CUDA kernel and the fallback by libtorch all call this one formula.
#pragma once

#include <cmath>
#include <cstdint>

#ifdef __CUDACC__
#define EIGNN_HOST_DEVICE __host__ __device__
#else
#define EIGNN_HOST_DEVICE
#endif

namespace eignn {

/// The coefficients of one step. T is float, double, or a tensor that broadcasts against the parameter (one
/// number per run of a batch).
template <class T>
struct AdamUpdate {
  T beta1, one_minus_beta1, beta2, one_minus_beta2;  // β₁, 1-β₁, β₂, 1-β₂
  T epsilon, decay;
  T rate, root;  // rate/(1-β₁ᵗ) and 1/√(1-β₂ᵗ), the bias correction
  T keep;        // 1, or the share of a weight that AdamW keeps

  static constexpr int64_t fields = 9;

  /// The coefficients of step t = 1, 2, …; with `decoupled` those of AdamW.
  static AdamUpdate at_step(int64_t t, double rate, double decay, bool decoupled = false) {
    constexpr double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  // the paper's values, and libtorch's
    const double now = rate / (1 - std::pow(beta1, t)), root = 1 / std::sqrt(1 - std::pow(beta2, t));
    const double penalty = decoupled ? 0 : decay, keep = decoupled ? 1 - rate * decay : 1;
    return {T(beta1), T(1 - beta1), T(beta2), T(1 - beta2), T(epsilon), T(penalty), T(now), T(root), T(keep)};
  }

  /// p ← keep p - rate m̂ / (√v̂ + ε), in place; m and v are assigned.
  template <class Value>
  EIGNN_HOST_DEVICE void operator()(Value gradient, Value& p, Value& m, Value& v) const {
    using std::sqrt;
    const Value g = gradient + decay * p;
    m = beta1 * m + one_minus_beta1 * g;
    v = beta2 * v + one_minus_beta2 * g * g;
    const Value step = rate * m / (sqrt(v) * root + epsilon);
    p *= keep;
    p -= step;
  }
};

}  // namespace eignn
