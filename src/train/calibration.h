// How far probabilities can be believed, and sets of classes that hold the truth as often as they promise.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "eignn/train.h"
#include "train/target_scale.h"

namespace eignn {

/// The T > 0 for which the mean negative log-likelihood of scores / T is least. It is convex in 1/T, so that
/// a bisection of its slope finds the minimum; T stays within 1e-3 and 1e3, where scores that separate the
/// classes, or tell nothing, would send it.
double fitted_temperature(const torch::Tensor& scores, const torch::Tensor& labels);

/// The expected calibration error: nodes are put into `bins` equal intervals by the probability of their
/// predicted class; the mean distance, over the nodes, between that probability and the share of right
/// predictions in a node's interval.
double calibration_error(const torch::Tensor& scores, const torch::Tensor& labels, int64_t bins = 15);

struct ConformalHalves {
  torch::Tensor judged, calibration;
};
/// Two halves of the validation nodes, by the seed: one for stopping, search and temperature, one that none
/// of them sees. ArgumentError for fewer than two nodes.
ConformalHalves conformal_halves(const torch::Tensor& validation, uint64_t seed);

/// The smallest threshold t for which the truth of a node that is exchangeable with the calibration nodes has
/// nonconformity(…) ≤ t with probability 1 - alpha or more: the ⌈(n + 1)(1 - alpha)⌉-th smallest of theirs,
/// infinite when there are fewer.
double conformal_threshold(const torch::Tensor& of_nodes, double alpha);

/// Of each node's label: 1 - its probability, or for numbers the largest error in deviations of the training
/// targets. `scores` of numbers are standardised, as the model gives them.
torch::Tensor nonconformity(const torch::Tensor& scores, const torch::Tensor& labels,
                            const TargetScale& targets);

/// The threshold of the calibration nodes, and what its sets hold of the test nodes. The scores are those of
/// the model, divided by the temperature where there is one.
ConformalResult conformal_result(double alpha, const torch::Tensor& calibration_scores,
                                 const torch::Tensor& calibration_labels, const torch::Tensor& test_scores,
                                 const torch::Tensor& test_labels, const TargetScale& targets);

/// bool (n, classes): the classes with 1 - p at most the threshold, and the likeliest one in any case.
torch::Tensor prediction_sets(const torch::Tensor& scores, double threshold);

}  // namespace eignn
