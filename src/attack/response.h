// The scores of target nodes as a function of a change δ of the features, and their gradients.
#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>
#include <vector>

#include "eignn/graph.h"
#include "eignn/model.h"
#include "models/fixed_model.h"

namespace eignn {

/// ∂L/∂f (rows, classes) at the scores f of the targets from `first` on, where L is the objective that the
/// attack increases.
using Cotangent = std::function<torch::Tensor(const torch::Tensor& scores, int64_t first)>;

/// Scores are float64 (targets, classes). The shape of δ depends on the implementation.
class Response {
 public:
  virtual ~Response() = default;
  virtual torch::Tensor none() const = 0;  // δ = 0
  virtual torch::Tensor scores(const torch::Tensor& delta) = 0;
  /// ∂L/∂δ.
  virtual torch::Tensor gradient(const torch::Tensor& delta, const Cotangent& cotangent) = 0;
};

/// δ (targets, m): each target's own row changes, independently of the other targets. Any model; a forward
/// and a backward pass for each target.
std::unique_ptr<Response> own_rows(FixedModel& model, const torch::Tensor& nodes);

/// δ (n, m): all rows change at once. Any model.
std::unique_ptr<Response> all_rows(FixedModel& model, const torch::Tensor& nodes);

/// The scores of a linear model at the target nodes, and their derivatives with respect to the features.
struct Jacobians {
  torch::Tensor scores;  // f (targets, classes), for the unchanged features
  torch::Tensor own;     // J_v = ∂f_v/∂x_v (targets, m, classes)
  /// Σ_u ‖∂(f_y - f_k)_v/∂x_u‖₁ over all rows u (targets, classes); undefined unless requested.
  torch::Tensor slopes_of_all;
};

/// Computed by one backward pass per class for a group of targets in different components of `graph`, which
/// do not influence each other. `labels` are those of the targets.
Jacobians jacobians(FixedModel& model, const Graph& graph, const torch::Tensor& nodes,
                    const torch::Tensor& labels, bool with_all_rows);

/// own_rows() of a linear model, without solves: f_v(x_v + δ) = f_v + J_vᵀ δ.
std::unique_ptr<Response> linear_rows(const Jacobians& jacobians);

}  // namespace eignn
