// A trained model: weights and options, and what is needed to use them without the data of the training.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "eignn/dataset.h"
#include "eignn/model.h"
#include "eignn/options.h"

namespace eignn {

struct TrainingRecord;  // src/run/training_record.h

/// The predictions of a model for every node of a data set.
struct Predictions {
  torch::Tensor scores;  // (n, classes), in the model's precision and on its device
  /// float64 (n, classes), CPU: softmax, or sigmoids for sets of labels; undefined in a regression.
  torch::Tensor probabilities;
  /// CPU: int64 (n,), the likeliest; uint8 (n, classes) for sets of labels; undefined in a regression.
  torch::Tensor classes;
  torch::Tensor values;  // of a regression: float64 (n, classes), CPU, in the units of the data
};

/// Mean loss and score (accuracy, or micro-F1 for sets of labels) over some nodes.
struct Evaluation {
  double loss = 0, score = 0;
};

/// How data compare with those that a model was trained on.
struct Recognition {
  bool remembers = false;       // whether the model knows its training nodes; those of older versions do not
  bool training_graph = false;  // it is the graph of the training, perhaps with nodes and arcs added since
  bool unchanged = false;       // with the same nodes, arcs and weights
  int64_t nodes_then = 0;       // of the training graph, where it is that
  Split split;                  // who was in which part of the training, ascending; empty on another graph
};

/// Weights and options of a model, which can be used on any graph with the same features: its own, with nodes
/// and arcs added, or another. It knows the names of features and classes, how features were treated, and
/// which nodes it was trained on.
///
///     auto model = eignn::load_model("runs/texas");
///     auto classes = model.predict(data).classes;
class TrainedModel {
 public:
  /// `record` is what is kept of the training data; without one there are no names, and features are taken as
  /// config.feature_norm says.
  TrainedModel(TrainConfig config, int64_t features, int64_t classes, bool multi_label,
               std::map<std::string, torch::Tensor> weights,
               std::shared_ptr<const TrainingRecord> record = nullptr);

  const TrainConfig& config() const { return config_; }
  int64_t features() const { return features_; }  // that the model reads, after their treatment
  int64_t classes() const { return classes_; }    // or labels, or numbers to predict
  Task task() const;                              // classes, labels or regression
  bool multi_label() const { return task() == Task::labels; }
  bool is_regression() const { return task() == Task::regression; }
  const std::map<std::string, torch::Tensor>& weights() const { return weights_; }
  /// Never null.
  const std::shared_ptr<const TrainingRecord>& record() const { return record_; }

  const std::vector<std::string>& class_names() const;  // empty: they are called by their numbers
  std::string class_name(int64_t k) const;
  /// Of the features that the model reads: "age", "city = Rome". Empty: they are called by their numbers.
  std::vector<std::string> feature_names() const;

  /// How to read tables for this model: labels, columns and weights as in the training, so that a column is
  /// what it was then, however few rows the new table has.
  ///
  ///     auto data = eignn::load_dataset("new", {}, 0, DataFolders::from_environment(), model.tables());
  TableOptions tables() const;

  /// Writes one safetensors file, which appears whole or not at all. ResourceError when that fails.
  void save(const std::string& path) const;

  /// Predicts all nodes of `data`. Give its features as they are; they are matched by name, where they have
  /// names, and treated as in training. DataError for a feature that is missing or not known, ArgumentError
  /// when the number of features differs. Labels and splits are not needed.
  Predictions predict(const Dataset& data) const;

  /// Loss and score at these nodes (int64, on the CPU). ArgumentError where a label is not known, or is none
  /// of the model's classes.
  Evaluation evaluate(const Dataset& data, const torch::Tensor& nodes) const;

  /// Whether these are the data of the training, and who was in which part.
  Recognition recognise(const Dataset& data) const;

  /// The model on this data set's graph, in evaluation mode, for example to differentiate it. Errors as in
  /// predict().
  std::shared_ptr<Model> on(const Dataset& data) const;

 private:
  TrainConfig config_;
  int64_t features_, classes_;
  std::map<std::string, torch::Tensor> weights_;
  std::shared_ptr<const TrainingRecord> record_;
};

/// Loads a model from a run folder or its model.safetensors. Of a run that is not finished it takes the best
/// weights so far, with a warning. DataError when it is missing or no checkpoint, ResourceError when it
/// cannot be read.
TrainedModel load_model(const std::string& path);

/// The program's version, such as "0.2.0".
const char* version();

}  // namespace eignn
