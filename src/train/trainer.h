// The parts of the training loop, which benchmarks and tests also use one by one.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "eignn/train.h"
#include "train/adam.h"
#include "train/known_labels.h"
#include "train/metrics.h"
#include "train/spread.h"

namespace eignn {

/// A model, its optimiser and the split that it is trained on.
class Trainer {
 public:
  Trainer(const TrainConfig& config, const Dataset& dataset, int64_t split, SpectrumStore* store);

  /// One epoch of Adam over the training nodes: one step, or with several graphs a step for each batch of
  /// graphs. Returns the mean of the losses before each step. ConvergenceError when a loss is not finite.
  double step(int64_t epoch);

  Evaluation evaluate(const torch::Tensor& nodes);

  // Where the nodes are spread over processes, these are collective: every process calls them, in the same
  // order, with its own nodes.

  /// In evaluation mode the scores, and the labels in the units of the data, at these nodes: of all
  /// processes, on the first one; undefined tensors on the others.
  torch::Tensor scores_at(const torch::Tensor& nodes);
  torch::Tensor labels_at(const torch::Tensor& nodes) const {
    return collected(labels_.index_select(0, nodes));
  }
  torch::Tensor collected(const torch::Tensor& rows) const;
  /// How many there are in all processes.
  int64_t count(const torch::Tensor& nodes) const;
  /// Calls work() in the first process alone; what it throws ends all (Ranks::on_first).
  void on_first(const std::function<void()>& work) const;
  bool is_first() const;
  bool any(bool here) const;
  /// The processes; null where there is one.
  const Ranks* ranks() const;

  const TrainConfig& config() const { return config_; }
  const char* metric() const { return name(judge_.metric); }
  const Judge& judge() const { return judge_; }
  Model& model() { return *model_; }
  const Model& model() const { return *model_; }
  /// With `conformal` its validation nodes are those that calibration() does not have.
  const Split& split() const { return split_; }
  /// The validation nodes that are kept for prediction sets; none without `conformal`.
  const torch::Tensor& calibration() const { return calibration_; }
  /// The training labels that are inputs of the model; nothing without `label-inputs`.
  const std::optional<KnownLabels>& known_labels() const { return known_labels_; }
  /// In the units of the data.
  const torch::Tensor& labels() const { return labels_; }
  Adam& optimiser() { return *optimiser_; }

 private:
  // The nodes of one step.
  struct Batch {
    torch::Tensor nodes;
    torch::Tensor rows;  // where graphs are dealt: their places among those of all processes; else undefined
    int64_t weight = 1;  // of its loss in that of the epoch
  };
  std::vector<Batch> batches(int64_t epoch);
  void sort_by_graph(const Dataset& dataset, const torch::Tensor& taught);
  void set_learning_rates(int64_t epoch);
  torch::Tensor loss_at(const torch::Tensor& nodes, double& of_all);
  void add_up_gradients();

  TrainConfig config_;
  std::shared_ptr<const Spread> spread_;  // null: there is one process
  Split split_;
  torch::Tensor taught_;  // the nodes of a step: the training nodes, or one of each cluster that has any
  torch::Tensor places_;  // of these among those of all processes; undefined where there is one
  // Those of each graph that has any, and how many they are: none are here where another process has them.
  struct GraphNodes {
    torch::Tensor nodes;
    int64_t count;
  };
  std::vector<GraphNodes> train_by_graph_;
  torch::Tensor calibration_;
  torch::Tensor labels_, targets_;  // the targets of the loss: labels, numbers standardised
  Judge judge_;
  std::optional<KnownLabels> known_labels_;
  std::shared_ptr<Model> model_;
  std::unique_ptr<Adam> optimiser_;
  std::vector<double> full_rates_;  // of the optimiser's groups
};

/// The learning rate and L2 penalty of F: its own where they are set, else those of all weights.
double rate_of_F(const TrainConfig& config);
double decay_of_F(const TrainConfig& config);

/// The factor of all learning rates in this epoch.
double schedule_factor(const TrainConfig& config, int64_t epoch);

/// config.split as a number; ArgumentError when the data set has no such split.
int64_t split_number(const TrainConfig& config, const Dataset& dataset);

}  // namespace eignn
