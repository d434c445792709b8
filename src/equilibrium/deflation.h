// The few large eigenvalues of g: what iterative solvers treat apart.
#pragma once

#include <torch/types.h>

#include "equilibrium/contraction.h"

namespace eignn {

/// g ≈ V diag(θ) Vᵀ + a small rest. Σ μᵢ² < 1, so that at most 99 eigenvalues of g exceed 1/10; a trained F
/// has a handful. An approximation serves: solvers iterate away what it leaves.
struct Deflation {
  torch::Tensor V;       // (m, k), orthonormal to 1e-7; undefined: nothing to treat apart
  torch::Tensor gram_V;  // FᵀF V
  torch::Tensor theta;   // (k,), ascending; on the CPU in float64

  bool empty() const { return !V.defined(); }
};

/// Rayleigh and Ritz on the block Krylov space of a fixed random start, so that one g has one deflation. O(m²
/// k) on the device; the k×k problems are solved on the CPU in float64.
Deflation deflate(const Contraction& contraction);

}  // namespace eignn
