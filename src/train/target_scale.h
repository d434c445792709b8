// How numbers to predict are scaled for training. A model is trained on targets of mean 0 and deviation 1
// over the training nodes; what it predicts, and every metric, is in the units of the data.
#pragma once

#include <torch/types.h>

#include <string>
#include <vector>

namespace eignn {

/// raw = standardised · scale + mean, for each target. Empty where the labels are classes or sets of labels:
/// then both functions return what they are given.
struct TargetScale {
  std::vector<double> mean, scale;

  /// Mean and deviation of labels (n, targets) over `training`; a target that is constant there has scale 1.
  static TargetScale fit(const torch::Tensor& labels, const torch::Tensor& training);

  bool empty() const { return mean.empty(); }
  /// Both keep the type and the device of their argument.
  torch::Tensor standardised(const torch::Tensor& raw) const;
  torch::Tensor raw(const torch::Tensor& standardised) const;

  /// One line of JSON, exact, for a checkpoint's metadata under "target"; from_json() of it gives the same
  /// scale. DataError naming `where` for a text that is none.
  std::string to_json() const;
  static TargetScale from_json(const std::string& text, const std::string& where);
};

}  // namespace eignn
