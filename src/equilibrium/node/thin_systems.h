// The systems of the large eigenvalues of g, one per column.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "equilibrium/node_operator.h"

namespace eignn {

/// y - Sᵀ y diag(a) = c with a = γθ (S in place of Sᵀ in the adjoint), by Chebyshev's semi-iteration, or
/// Neumann's series for a directed S. The number of steps of a column follows from its a: if ‖S‖ ≤ 1 the
/// error falls to 1e-4, which is enough for a round of `deflated`.
class ThinSystems {
 public:
  ThinSystems() = default;
  /// θ ascends, on the CPU in float64; `type` is that of c.
  ThinSystems(const torch::Tensor& theta, double gamma, bool symmetric, const torch::TensorOptions& type);

  /// y - c
  torch::Tensor correction(const torch::Tensor& c, const NodeOperator& S, bool adjoint) const;

 private:
  std::vector<int64_t> begin_;  // first column still active in each step
  torch::Tensor a_, omega_;     // (1, k), (steps, k)
};

}  // namespace eignn
