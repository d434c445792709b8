// What a run leaves behind: config.toml, metrics.jsonl, summary.json, model.safetensors, predictions.csv, and
// while it is under way resume.safetensors.
#pragma once

#include <string>

#include "eignn/train.h"

namespace eignn {

class RunFolder {
 public:
  /// Makes the folder and config.toml; refuses a folder that holds a run already.
  static RunFolder create(const std::string& path, const TrainConfig& config);
  /// A folder with an interrupted run; DataError when there is nothing to resume.
  static RunFolder open(const std::string& path);

  void append_epoch(const EpochReport& report) const;
  /// Forgets the lines of epochs from `epoch` on: they will be run again.
  void truncate_metrics(int64_t epoch) const;
  void write_summary(const RunResult& summary) const;
  void write_predictions(const Dataset& dataset, const Split& split, const torch::Tensor& scores) const;

  std::string checkpoint_path() const { return path_ + "/model.safetensors"; }
  std::string resume_path() const { return path_ + "/resume.safetensors"; }
  const std::string& path() const { return path_; }

 private:
  explicit RunFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// Of each class, float64 on the CPU: by softmax, or one by one where a node has a set of labels.
torch::Tensor probabilities(const torch::Tensor& scores, bool multi_label);

/// node,split,label,predicted,p0,p1,… with the label empty where it is not known; sets of labels are class
/// numbers between blanks, - for the empty set.
void write_predictions_csv(const std::string& path, const Dataset& dataset, const Split& split,
                           const torch::Tensor& scores);

}  // namespace eignn
