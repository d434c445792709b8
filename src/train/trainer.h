// The training loop's parts, for those who time or test them one by one.
#pragma once

#include <torch/optim/adam.h>

#include <memory>

#include "eignn/training.h"

namespace eignn {

/// A model, its optimiser and the split it learns from.
class Trainer {
 public:
  Trainer(const TrainConfig& config, const Dataset& dataset, int64_t split, SpectrumStore* store);

  /// One step of Adam on the training nodes; returns the loss before it. InputError when that is not finite.
  double step(int64_t epoch);

  struct Evaluation {
    double loss, accuracy;
  };
  Evaluation evaluate(const torch::Tensor& nodes);
  torch::Tensor scores(const torch::Tensor& nodes);  // without dropout or gradients

  Model& model() { return *model_; }
  const Split& split() const { return split_; }
  torch::optim::Adam& optimiser() { return *optimiser_; }

 private:
  TrainConfig config_;
  Split split_;
  torch::Tensor labels_;
  std::shared_ptr<Model> model_;
  std::unique_ptr<torch::optim::Adam> optimiser_;
};

}  // namespace eignn
