// The systems of the large eigenvalues of g, one to a column.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "equilibrium/node_operator.h"

namespace eignn {

/// y - Sᵀ y diag(a) = c with a = γθ (S for Sᵀ in the adjoint), by Chebyshev's semi-iteration; Neumann's
/// series for a directed S. A column takes as many steps as its a asks for where ‖S‖ ≤ 1, to the digits that
/// a round of `deflated` gains.
class ThinSystems {
 public:
  ThinSystems() = default;
  /// θ ascends, on the CPU in float64; `type` is that of c.
  ThinSystems(const torch::Tensor& theta, double gamma, bool symmetric, const torch::TensorOptions& type);

  /// y - c: what the propagation adds to c.
  torch::Tensor correction(const torch::Tensor& c, const NodeOperator& S, bool adjoint) const;

 private:
  std::vector<int64_t> begin_;  // of each step's columns: those still at work are the last
  torch::Tensor a_, omega_;     // (1, k), (steps, k)
};

}  // namespace eignn
