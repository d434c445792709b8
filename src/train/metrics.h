#pragma once

#include <torch/types.h>

#include <vector>

#include "eignn/training.h"

namespace eignn {

/// The fraction of rows whose largest score is at the label. A tie goes to the first class.
double accuracy(const torch::Tensor& scores, const torch::Tensor& labels);

/// Accuracy over the given nodes by their distance, in at most `bands` equal bands.
std::vector<DistanceScore> accuracy_by_distance(const torch::Tensor& scores, const torch::Tensor& labels,
                                                const torch::Tensor& nodes,
                                                const std::vector<int64_t>& distance, int64_t bands = 10);

}  // namespace eignn
