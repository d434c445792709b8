// How the scores of target nodes answer to a change of features: all that an attack knows of a model.
#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>
#include <vector>

#include "eignn/graph.h"
#include "eignn/model.h"

namespace eignn {

/// ∂L/∂f (rows, classes) at the scores f of the targets from `first` on, where L is the objective that the
/// attack increases.
using Cotangent = std::function<torch::Tensor(const torch::Tensor& scores, int64_t first)>;

/// Scores are float64 (targets, classes). The shape of δ is the kind's own.
class Response {
 public:
  virtual ~Response() = default;
  virtual torch::Tensor none() const = 0;  // δ = 0
  virtual torch::Tensor scores(const torch::Tensor& delta) = 0;
  /// ∂L/∂δ.
  virtual torch::Tensor gradient(const torch::Tensor& delta, const Cotangent& cotangent) = 0;
};

/// Takes a model's weights out of the gradient and its dropout out of the scores, and puts back weights,
/// features and mode at the end.
class FixedModel {
 public:
  FixedModel(Model& model, torch::Tensor X);
  ~FixedModel();
  FixedModel(const FixedModel&) = delete;
  FixedModel& operator=(const FixedModel&) = delete;

  /// Scores at these nodes for features X', float64; differentiable where X' requires a gradient.
  torch::Tensor scores(const torch::Tensor& X, const torch::Tensor& nodes);
  const torch::Tensor& X() const { return X_; }
  const Model& model() const { return model_; }

 private:
  Model& model_;
  torch::Tensor X_;
  std::vector<torch::Tensor> weights_;  // those that had a gradient
  bool was_training_;
};

/// δ (targets, m): every target has a change of its own row, and sees no other's. Any model; a forward and a
/// backward pass for each target.
std::unique_ptr<Response> own_rows(FixedModel& model, const torch::Tensor& nodes);

/// δ (n, m): all rows change at once. Any model.
std::unique_ptr<Response> all_rows(FixedModel& model, const torch::Tensor& nodes);

/// The scores of a linear model at the target nodes, and their derivatives by the features.
struct Jacobians {
  torch::Tensor scores;  // f (targets, classes), of the features as they are
  torch::Tensor own;     // J_v = ∂f_v/∂x_v (targets, m, classes)
  /// Σ_u ‖∂(f_y - f_k)_v/∂x_u‖₁ over all rows u (targets, classes); undefined unless asked for.
  torch::Tensor slopes_of_all;
};

/// By one backward pass per class for targets that lie in different components of `graph`, which a linear
/// model does not mix; `labels` are the targets'.
Jacobians jacobians(FixedModel& model, const Graph& graph, const torch::Tensor& nodes,
                    const torch::Tensor& labels, bool with_all_rows);

/// own_rows() of a linear model, by arithmetic: f_v(x_v + δ) = f_v + J_vᵀ δ.
std::unique_ptr<Response> linear_rows(const Jacobians& jacobians);

}  // namespace eignn
