// Norms of matrices whose entries' squares would overflow or underflow, and powers of two that bring them
// into range.
#pragma once

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "equilibrium/node_operator.h"

namespace eignn {

/// ‖X‖, also where squares of float32 numbers would overflow or underflow.
inline double norm_of(const torch::Tensor& X) {
  const double norm = X.norm().item<double>();
  return norm > 1e-12 && norm < 1e18 ? norm : X.to(torch::kFloat64).norm().item<double>();
}
/// The same over all nodes of S.
inline double norm_of(const NodeOperator& S, const torch::Tensor& X) {
  const double norm = S.norm(X);
  return norm > 1e-12 && norm < 1e18 ? norm : S.norm(X.to(torch::kFloat64));
}

/// k with 2^k about `size` where `size` is outside 2^±24, else 0. A matrix of that norm times 2^-k has
/// squares in range. |k| ≤ 100, so that 2^k is in range too.
inline int out_of_scale(double size) {
  constexpr int far = 24, farthest = 100;
  const int k = size > 0 && std::isfinite(size) ? std::ilogb(size) : 0;
  return std::abs(k) > far ? std::clamp(k, -farthest, farthest) : 0;
}

}  // namespace eignn
