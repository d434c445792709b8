#pragma once

#include <torch/types.h>

#include <vector>

#include "eignn/checkpoint.h"
#include "eignn/train.h"

namespace eignn {

/// The training loss: the mean negative log-likelihood of the labels (n,), or for sets of labels (n, classes)
/// the mean binary cross-entropy over all entries.
torch::Tensor loss_of(const torch::Tensor& scores, const torch::Tensor& labels);

/// The reported score: accuracy, or micro-F1 for sets of labels.
double score_of(const torch::Tensor& scores, const torch::Tensor& labels);
/// "accuracy" or "micro_f1".
const char* metric_name(const torch::Tensor& labels);

/// Loss and score at these nodes, without dropout or gradients. `labels` are those of all nodes, on the
/// model's device.
Evaluation evaluate(Model& model, const torch::Tensor& labels, const torch::Tensor& nodes);
/// Scores without dropout or gradients.
torch::Tensor scores_of(Model& model, const torch::Tensor& nodes);

/// The median; of an even number of values the upper of the two middle ones, and 0 if there are none.
double median(std::vector<double> values);

/// 2 TP / (2 TP + FP + FN) over all entries; a score above 0 predicts the label. 1 when there is neither a
/// true nor a predicted label.
double micro_f1(const torch::Tensor& scores, const torch::Tensor& labels);

/// The fraction of rows whose largest score is that of the label. Ties go to the first class.
double accuracy(const torch::Tensor& scores, const torch::Tensor& labels);

/// Accuracy over the given nodes by their distance, in at most `bands` equal bands.
std::vector<DistanceScore> accuracy_by_distance(const torch::Tensor& scores, const torch::Tensor& labels,
                                                const torch::Tensor& nodes,
                                                const std::vector<int64_t>& distance, int64_t bands = 10);

}  // namespace eignn
