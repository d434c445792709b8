// A trained model whose scores are looked at as a function of its features.
#pragma once

#include <torch/types.h>

#include <vector>

#include "eignn/model.h"

namespace eignn {

/// Puts a model into evaluation mode without gradients in its weights. The destructor restores the weights'
/// gradient flags, the features and the mode.
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
  std::vector<torch::Tensor> weights_;  // those that required a gradient
  bool was_training_;
};

}  // namespace eignn
