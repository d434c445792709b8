// A tight lower bound on the margins of a linear model under any attack within ε.
//
// In the ∞-ball of radius ε the margin of the label y over a class k is at least
//
//     (f_y - f_k) - ε s_k,   s_k = ‖J (e_y - e_k)‖₁,
//
// and δ = -ε sign(J (e_y - e_k)) attains it. The node keeps its class for every ε below min_k (f_y -
// f_k)/s_k.
#pragma once

#include <torch/types.h>

#include "attack/response.h"

namespace eignn {

struct Certificate {
  torch::Tensor margins;  // f_y - f_k (targets, classes); infinite at k = y
  torch::Tensor slopes;   // s_k; 0 at k = y

  /// The smallest margin over the other classes that any δ within ε can leave (targets,).
  torch::Tensor lower_bound(double epsilon) const;
  /// The certified radius (targets,): for smaller ε the class is kept. 0 where it is wrong without an attack.
  torch::Tensor radius() const;
};

/// For changes of the targets' own rows, or of all rows, which needs Jacobians with slopes_of_all.
Certificate certificate(const Jacobians& jacobians, const torch::Tensor& labels, bool of_all_rows = false);

/// f_y - f_k (targets, classes); infinite at k = y.
torch::Tensor margins_of(const torch::Tensor& scores, const torch::Tensor& labels);

}  // namespace eignn
