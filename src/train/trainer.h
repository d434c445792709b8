// The training loop's parts, for those who time or test them one by one.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "eignn/training.h"
#include "train/adam.h"
#include "train/metrics.h"

namespace eignn {

/// A model, its optimiser and the split it learns from.
class Trainer {
 public:
  Trainer(const TrainConfig& config, const Dataset& dataset, int64_t split, SpectrumStore* store);

  /// One epoch of Adam over the training nodes, graph by graph where there are several; returns the mean loss
  /// before each step. InputError when that is not finite.
  double step(int64_t epoch);

  Evaluation evaluate(const torch::Tensor& nodes) { return eignn::evaluate(*model_, labels_, nodes); }

  const char* metric() const { return metric_name(labels_); }
  Model& model() { return *model_; }
  const Model& model() const { return *model_; }
  const Split& split() const { return split_; }
  const torch::Tensor& labels() const { return labels_; }
  Adam& optimiser() { return *optimiser_; }

 private:
  std::vector<torch::Tensor> batches(int64_t epoch) const;
  void set_learning_rates(int64_t epoch);

  TrainConfig config_;
  Split split_;
  std::vector<torch::Tensor> train_by_graph_;  // the training nodes of each graph that has some
  torch::Tensor labels_;
  std::shared_ptr<Model> model_;
  std::unique_ptr<Adam> optimiser_;
  std::vector<double> full_rates_;  // of the optimiser's groups
};

/// F's own learning rate and L2 penalty, or those of all weights.
double rate_of_F(const TrainConfig& config);
double decay_of_F(const TrainConfig& config);

/// What all learning rates are multiplied by in this epoch.
double schedule_factor(const TrainConfig& config, int64_t epoch);

/// Where a run stands between two epochs: all that the rest of it depends on.
struct Progress {
  int64_t next_epoch = 0, best_epoch = -1;
  bool finished = false;
  std::map<std::string, torch::Tensor> best;
  std::vector<double> epoch_seconds, step_seconds;
  double seconds = 0;
  int64_t non_converged = 0;  // solves that stopped short before the run was resumed

  void note(const EpochReport& report,
            double step);  // an epoch is over; `step`: seconds of its training step
};

class RunFolder;

/// The end of a run: tests the best weights, fills the summary and writes the folder, if there is one.
/// `F_start` are the propagation weights that it began with.
void conclude(Trainer& trainer, const Dataset& dataset, const RunFolder* folder, const Progress& progress,
              const std::vector<torch::Tensor>& F_start, double preprocess_seconds, TrainSummary& summary);

/// The number that config.split names; UsageError when the data set has no such split.
int64_t split_number(const TrainConfig& config, const Dataset& dataset);

}  // namespace eignn
