// The loss and the score of several splits at once.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "eignn/dataset.h"

namespace eignn {

/// Mean cross-entropy and accuracy, as in train/metrics.h, for runs that each have a split of their own. All
/// shapes are fixed: every node has a weight in each run, which is 0 outside the run's split.
class BatchedMetrics {
 public:
  /// Run k uses splits[k].
  BatchedMetrics(const Dataset& dataset, const std::vector<const Split*>& splits,
                 const torch::TensorOptions& type);

  struct Training {
    torch::Tensor loss;       // (runs,)
    torch::Tensor cotangent;  // ∂ loss / ∂ scores, (n, runs, classes)
  };
  /// Of scores (n, runs, classes).
  Training training(const torch::Tensor& scores) const;

  struct Validation {
    torch::Tensor loss, right;  // (runs,); right: the number of correctly classified nodes
  };
  Validation validation(const torch::Tensor& scores) const;
  /// The number of validation nodes of run k.
  double validation_nodes(size_t k) const { return val_count_.at(k); }

  /// Keeps only these runs, given by their indices in the batch.
  void keep(const std::vector<int64_t>& places);

 private:
  torch::Tensor label_;                    // (n, 1)
  torch::Tensor share_;                    // (n, runs, 1): 1/|train| at training nodes, 0 elsewhere
  torch::Tensor train_truth_, val_truth_;  // (n, runs, classes): one-hot labels times such shares
  torch::Tensor is_val_;                   // (n, runs): 1 at validation nodes
  std::vector<double> val_count_;
};

}  // namespace eignn
