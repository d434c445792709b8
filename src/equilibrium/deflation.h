// The few large eigenvalues of g, which the iterative solvers treat separately.
#pragma once

#include <torch/types.h>

#include "equilibrium/contraction.h"

namespace eignn {

/// g ≈ V diag(θ) Vᵀ + a small rest. Σ μᵢ² < 1, so that at most 99 eigenvalues of g exceed 1/10; a trained F
/// has a handful. An approximation is enough, since the solvers iterate on the rest.
struct Deflation {
  torch::Tensor V;       // (m, k), orthonormal to 1e-7; undefined: no deflation
  torch::Tensor gram_V;  // FᵀF V
  torch::Tensor theta;   // (k,), ascending; on the CPU in float64

  bool empty() const { return !V.defined(); }
};

/// Rayleigh-Ritz on the block Krylov space of a fixed random start, so that the result depends on g alone.
/// O(m² k) on the device; the k×k problems are solved on the CPU in float64.
Deflation deflate(const Contraction& contraction);

}  // namespace eignn
