// Losses and metrics. Labels are int64 (n,) classes, uint8 (n, classes) sets of labels, or floating (n,
// targets) numbers to predict; what they are is read from their type.
#pragma once

#include <torch/types.h>

#include <string>
#include <vector>

#include "eignn/checkpoint.h"
#include "eignn/dataset.h"
#include "eignn/scores.h"
#include "eignn/train.h"
#include "train/target_scale.h"

namespace eignn {

/// The training loss: the mean negative log-likelihood of classes, for sets of labels the mean binary
/// cross-entropy over all entries, for numbers the mean squared error. `weights` (classes,), where defined:
/// of each class in the mean; of sets of labels, of each label's entries that are 1.
torch::Tensor loss_of(const torch::Tensor& scores, const torch::Tensor& labels,
                      const torch::Tensor& weights = {});
/// What the mean of loss_of() divides by: the nodes, or with weights of classes the weights of their labels.
/// Losses of several sets of nodes have their mean in these proportions.
double loss_weight(const torch::Tensor& labels, const torch::Tensor& weights = {});

/// Weights under which all classes of `labels` count the same: n / (classes · n_c), 0 for a class without a
/// node. Of sets of labels: under which the entries 1 and 0 of a label count the same. ArgumentError for
/// numbers.
torch::Tensor balanced_weights(const torch::Tensor& labels, int64_t classes);

/// How the scores of a model are turned into a loss and a score.
struct Judge {
  Metric metric = Metric::automatic;  // automatic: accuracy, micro_f1 or r2, by the labels' type
  torch::Tensor class_weights;        // of the loss; undefined: all count the same
  TargetScale targets;                // of numbers: the scores are standardised, the labels raw
};

/// What `wanted` stands for on this data set; options.h says what `automatic` is. ArgumentError for a metric
/// that these labels do not have.
Metric resolved_metric(Metric wanted, const Dataset& dataset);
/// Whether the labels are of two classes, the rarer of which has less than a quarter of the known ones.
bool is_unbalanced(const Dataset& dataset);
/// The same of two classes, by the labels that are known and those of the first class.
bool is_unbalanced(double known, double first);

/// Accuracy, micro-F1 or R², by the type of the labels.
double score_of(const torch::Tensor& scores, const torch::Tensor& labels);
/// "accuracy", "micro_f1" or "r2".
const char* metric_name(const torch::Tensor& labels);

/// One metric, or all of them. `scores` of numbers are in the units of the data. NaN where it is not defined.
double metric_of(Metric metric, const torch::Tensor& scores, const torch::Tensor& labels);
PartScores part_scores(const torch::Tensor& scores, const torch::Tensor& labels);

/// Scores that know the training labels and no node: the logarithm of the classes' shares, the log-odds of
/// each label, the mean of numbers. (rows, classes), float64.
torch::Tensor constant_scores(const torch::Tensor& training_labels, int64_t classes, int64_t rows);

/// Loss and score at these nodes, without dropout or gradients. `labels` are those of all nodes, on the
/// model's device.
Evaluation evaluate(Model& model, const torch::Tensor& labels, const torch::Tensor& nodes,
                    const Judge& judge = {});
/// The same of scores that are there already, at nodes with these labels.
Evaluation evaluation_of(const torch::Tensor& scores, const torch::Tensor& labels, const Judge& judge);
/// Scores without dropout or gradients.
torch::Tensor scores_of(Model& model, const torch::Tensor& nodes);

/// "95.20 %" for shares of nodes, "0.9052" for areas and R², "12.3" for errors.
std::string metric_text(Metric metric, double value);
/// The same for a metric by its name.
std::string metric_text(const std::string& metric, double value);
Metric metric_by_name(const std::string& name);

/// The median; of an even number of values the upper of the two middle ones, and 0 if there are none.
double median(std::vector<double> values);

/// 2 TP / (2 TP + FP + FN) over all entries; a score above 0 predicts the label. 1 when there is neither a
/// true nor a predicted label.
double micro_f1(const torch::Tensor& scores, const torch::Tensor& labels);

/// The fraction of rows whose largest score is that of the label. Ties go to the first class.
double accuracy(const torch::Tensor& scores, const torch::Tensor& labels);

/// Accuracy by distance, in at most `bands` equal bands from 0 to `farthest`; `distance` (rows) is int64.
std::vector<DistanceScore> accuracy_by_distance(const torch::Tensor& scores, const torch::Tensor& labels,
                                                const torch::Tensor& distance, int64_t farthest,
                                                int64_t bands = 10);

}  // namespace eignn
