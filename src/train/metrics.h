#pragma once

#include <torch/types.h>

#include <vector>

#include "eignn/checkpoint.h"
#include "eignn/train.h"

namespace eignn {

/// What is minimised: the mean negative log-likelihood of the labels (n,), or with sets of labels (n,
/// classes) the mean binary cross-entropy of all their entries.
torch::Tensor loss_of(const torch::Tensor& scores, const torch::Tensor& labels);

/// What is reported: accuracy, or with sets of labels micro-F1.
double score_of(const torch::Tensor& scores, const torch::Tensor& labels);
/// "accuracy" or "micro_f1".
const char* metric_name(const torch::Tensor& labels);

/// Without dropout or gradients. `labels` are those of all nodes, on the model's device.
Evaluation evaluate(Model& model, const torch::Tensor& labels, const torch::Tensor& nodes);
/// Scores without dropout or gradients.
torch::Tensor scores_of(Model& model, const torch::Tensor& nodes);

/// The middle one of the values in order, the upper of two; 0 of none.
double median(std::vector<double> values);

/// 2 TP / (2 TP + FP + FN) over all entries, a score above 0 being a yes; 1 when there is nothing to find and
/// nothing was found.
double micro_f1(const torch::Tensor& scores, const torch::Tensor& labels);

/// The fraction of rows whose largest score is at the label. A tie goes to the first class.
double accuracy(const torch::Tensor& scores, const torch::Tensor& labels);

/// Accuracy over the given nodes by their distance, in at most `bands` equal bands.
std::vector<DistanceScore> accuracy_by_distance(const torch::Tensor& scores, const torch::Tensor& labels,
                                                const torch::Tensor& nodes,
                                                const std::vector<int64_t>& distance, int64_t bands = 10);

}  // namespace eignn
