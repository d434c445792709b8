// Several runs on one graph, trained as one batched problem: they share S, X and what is derived from them;
// each has its own F, B, split, seed and rates. models/batched_eignn.h has the model and
// equilibrium/batched_series.h its solver. This file decides which runs may share a batch, and has the
// optimiser and the whole epoch, which a GPU replays as one CUDA graph.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "eignn/train.h"
#include "models/batched_eignn.h"
#include "train/adam.h"
#include "train/batched_metrics.h"
#include "train/captured.h"

namespace eignn {

/// The settings in which runs of a batch may differ.
const std::set<std::string>& per_run_settings();

/// ArgumentError when runs of this configuration cannot be trained as a batch, or should not: where `auto`
/// would take `direct`, a batch is too inaccurate at distant nodes.
void require_batchable(const TrainConfig& config, const Dataset& dataset);

/// ArgumentError where the features depend on the split and the runs differ in it: a batch has one X.
void require_same_features(const std::vector<TrainConfig>& configs, const Dataset& dataset);

class RunBatch {
 public:
  /// The configurations may differ in split, seed, learning rates and weight decays. All runs share one data
  /// set, so that a run's seed determines its initial weights but not a drawn split. ArgumentError when they
  /// differ in more, or have settings that a batch does not support (a directed S, a stack, other heads, γ =
  /// 1).
  RunBatch(const std::vector<TrainConfig>& configs, const Dataset& dataset, SpectrumStore* store);
  ~RunBatch();

  struct Report {
    double train_loss, val_loss, val_score;
  };
  /// One step and one evaluation of every run; reports in the order of the runs.
  std::vector<Report> epoch();

  /// Keeps only these runs, given by their indices in the batch.
  void keep(const std::vector<int64_t>& places);

  /// F and B of a run, by their names in a checkpoint.
  std::map<std::string, torch::Tensor> state(int64_t place) const;

  int64_t size() const;
  double preprocess_seconds() const { return preprocess_seconds_; }
  /// The name, as in the options, of the solver whose series is used.
  static constexpr const char* solver_name = "krylov";

 private:
  void begin();  // solves for the current weights and prepares a new capture
  void work();   // one epoch, on the device; captured

  TrainConfig config_;  // of the first run; all runs agree but for settings_of_a_run()
  std::unique_ptr<BatchedEignn> model_;
  std::unique_ptr<BatchedMetrics> metrics_;
  std::unique_ptr<BatchedAdam> adam_;
  torch::Tensor report_;  // (3, runs): training loss, validation loss, correct validation nodes
  std::unique_ptr<Captured> captured_;
  int64_t epoch_ = 0;
  double preprocess_seconds_ = 0;
};

}  // namespace eignn
