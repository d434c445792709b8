#include "models/fixed_model.h"

#include <torch/torch.h>

#include <utility>

namespace eignn {

FixedModel::FixedModel(Model& model, torch::Tensor X)
    : model_(model), X_(std::move(X)), was_training_(model.is_training()) {
  for (const auto& weight : model_.parameters())
    if (weight.requires_grad()) weights_.push_back(weight);
  for (auto& weight : weights_) weight.set_requires_grad(false);
  model_.eval();
}

FixedModel::~FixedModel() {
  model_.use_features(X_);
  for (auto& weight : weights_) weight.set_requires_grad(true);
  model_.train(was_training_);
}

torch::Tensor FixedModel::scores(const torch::Tensor& X, const torch::Tensor& nodes) {
  model_.use_features(X);
  return model_.scores(nodes).to(torch::kFloat64);
}

}  // namespace eignn
