// The few large eigenvalues of g, followed from step to step: what iterative solvers treat apart.
#pragma once

#include <torch/types.h>

namespace eignn {

/// g ≈ V diag(θ) Vᵀ + a small rest. Σ μᵢ² < 1, so that at most 99 eigenvalues of g exceed 1/10; a trained F
/// has a handful. An approximation serves: solvers iterate away what it leaves.
struct Deflation {
  torch::Tensor V;      // (m, k), orthonormal; undefined: nothing to treat apart
  torch::Tensor theta;  // (k,)

  bool empty() const { return !V.defined(); }
};

/// Two steps of subspace iteration from the V of the last step (undefined: from a fixed random one), then
/// Rayleigh and Ritz. O(m² k) on the device; the k×k problems are solved on the CPU in float64.
Deflation deflate(const torch::Tensor& gram, const torch::Tensor& scale, const torch::Tensor& last_V);

}  // namespace eignn
