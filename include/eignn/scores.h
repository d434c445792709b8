// What a model gets right on one part of the nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "eignn/options.h"

namespace eignn {

/// The metrics of one part of the nodes. One that is not defined there is empty: accuracy for numbers,
/// ROC-AUC where only one class occurs, all of them in a part without nodes.
///
/// Of several classes, ROC-AUC and average precision are means over each class against the others, by
/// probability; of sets of labels, means over the labels. Balanced accuracy is the mean recall of the classes
/// that occur; macro-F1 leaves out classes that neither occur nor are predicted.
struct PartScores {
  int64_t nodes = 0;
  std::optional<double> accuracy, micro_f1, roc_auc, average_precision, macro_f1, balanced_accuracy;
  std::optional<double> mse, mae, r2;  // in the units of the data; r2 is the mean over several targets
  /// confusion[truth][predicted], in nodes; empty for sets of labels and numbers, and above 50 classes.
  std::vector<std::vector<int64_t>> confusion;

  std::optional<double>& of(Metric metric);
  const std::optional<double>& of(Metric metric) const;
};

/// The metrics other than `automatic`, in the order of PartScores.
const std::vector<Metric>& all_metrics();

}  // namespace eignn
