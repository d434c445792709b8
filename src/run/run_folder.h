// What a run leaves behind: config.toml, metrics.jsonl, summary.json, model.safetensors, predictions.csv, and
// until it is finished resume.safetensors.
#pragma once

#include <optional>
#include <string>

#include "data/atomic_file.h"
#include "data/folder_lock.h"
#include "eignn/train.h"
#include "graph/content_hash.h"
#include "train/target_scale.h"

namespace eignn {

/// A run's folder, held for one writer as long as this lives. summary.json is written last: a folder that has
/// it holds a finished run, whatever else is there.
class RunFolder {
 public:
  /// Makes the folder and config.toml. DataError for a folder that holds a finished run, one that can be
  /// resumed, the runs of several splits, or a model of another run. A run with these settings that died
  /// before anything was saved is begun again.
  static RunFolder create(const std::string& path, const TrainConfig& config);
  /// A folder with an interrupted run; DataError when there is nothing to resume.
  static RunFolder open(const std::string& path);

  void append_epoch(const EpochReport& report);
  /// Of the lines so far. They are on the disk when it returns: the state that is saved next counts on them.
  std::string flush_metrics();
  /// Drops the lines of epochs from `epoch` on, which will be run again. DataError where the others are not
  /// those that flush_metrics() returned `digest` for; an empty digest (of older versions) is not compared.
  void truncate_metrics(int64_t epoch, const std::string& digest);
  /// Writes summary.json, and then removes the state to resume from.
  void finish(const RunResult& summary) const;
  void write_predictions(const Dataset& dataset, const Split& split, const Predictions& predictions) const;
  void write_settings(const TrainConfig& config) const;  // config.toml

  std::string checkpoint_path() const { return path_ + "/model.safetensors"; }
  std::string predictions_path() const { return path_ + "/predictions.csv"; }
  std::string resume_path() const { return path_ + "/resume.safetensors"; }
  const std::string& path() const { return path_; }

 private:
  explicit RunFolder(std::string path);
  // Nothing where the folder cannot be locked and holds a finished run.
  static std::optional<RunFolder> lock(const std::string& path);
  void open_metrics();
  void write_summary(const RunResult& summary) const;

  std::string path_;
  FolderLock lock_;
  FileHandle metrics_;
  ContentHash lines_;  // of metrics.jsonl
};

/// What works whatever is wrong with the state that a run was to resume from.
inline constexpr const char* begin_anew =
    "remove the folder's resume.safetensors and give the command of the run again: it begins anew";

/// Whether the folder holds a run that was begun, saved and not finished.
bool is_interrupted_run(const std::string& folder);

/// Of each class, float64 on the CPU: by softmax, or one by one where a node has a set of labels.
torch::Tensor probabilities(const torch::Tensor& scores, bool multi_label);

/// node,set: of each node the classes, between bars, that ConformalResult promises; of numbers
/// node,low,high, with one pair for each target. `scores` are those of the model.
void write_prediction_sets(const std::string& path, const Dataset& dataset, const torch::Tensor& scores,
                           const ConformalResult& conformal, double temperature, const TargetScale& targets);

}  // namespace eignn
