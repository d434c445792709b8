// Labels of training nodes as inputs of a model (EignnOptions::label_inputs).
//
// In each epoch a random half of them is input and the loss is on the other half. Afterwards all of them are
// input for nodes without one; the nodes themselves are in two fixed halves, each scored with the labels of
// the other (Model::use_labels). What stands here never reads a label outside of the training part.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "eignn/dataset.h"
#include "eignn/model.h"
#include "train/target_scale.h"

namespace eignn {

/// The labels that a run may input. All tensors are on the CPU.
struct KnownLabels {
  torch::Tensor nodes;   // int64 (k,)
  torch::Tensor labels;  // of these nodes, as Dataset::labels has them
  torch::Tensor half;    // int64 (k,): 0 or 1

  /// Those of `training`, with halves drawn by the seed. ArgumentError{"label-inputs"} for several graphs,
  /// in which the labels of one say nothing of another, and for fewer than two nodes.
  static KnownLabels of(const Dataset& data, const torch::Tensor& training, uint64_t seed);

  /// As a model of so many classes reads them: 1 in the column of a node's class; for a set of labels 1 in
  /// the columns of those that it has and -1 in the others; numbers as the loss has them.
  LabelInputs inputs(int64_t classes, const TargetScale& targets) const;
};

/// The halves of an epoch, as places among k labels.
struct EpochHalves {
  torch::Tensor shown, scored;
};
EpochHalves halves_of_epoch(int64_t k, uint64_t seed, int64_t epoch);

}  // namespace eignn
