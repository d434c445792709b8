// A trained model: weights and options, without the graph that they were trained on.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "eignn/dataset.h"
#include "eignn/model.h"
#include "eignn/options.h"

namespace eignn {

/// The predictions of a model for every node of a data set.
struct Predictions {
  torch::Tensor scores;         // (n, classes), in the model's precision and on its device
  torch::Tensor probabilities;  // float64 (n, classes), CPU: softmax, or sigmoids for sets of labels
  torch::Tensor classes;        // CPU: int64 (n,), the likeliest; uint8 (n, classes) for sets of labels
};

/// Mean loss and score (accuracy, or micro-F1 for sets of labels) over some nodes.
struct Evaluation {
  double loss = 0, score = 0;
};

/// Weights and options of a model, which can be used on any graph with the same number of features.
///
///     auto model = eignn::load_model("runs/texas");
///     auto classes = model.predict(data).classes;
class TrainedModel {
 public:
  TrainedModel(TrainConfig config, int64_t features, int64_t classes, bool multi_label,
               std::map<std::string, torch::Tensor> weights);

  const TrainConfig& config() const { return config_; }
  int64_t features() const { return features_; }
  int64_t classes() const { return classes_; }
  bool multi_label() const { return multi_label_; }
  const std::map<std::string, torch::Tensor>& weights() const { return weights_; }

  /// Writes one safetensors file, which appears whole or not at all. ResourceError when that fails.
  void save(const std::string& path) const;

  /// Predicts all nodes of `data`. Give its features as they are; they are normalised as in training.
  /// ArgumentError when the number of features differs. Labels and splits are not needed.
  Predictions predict(const Dataset& data) const;

  /// Loss and score at these nodes (int64, on the CPU). ArgumentError where a label is not known.
  Evaluation evaluate(const Dataset& data, const torch::Tensor& nodes) const;

  /// The model on this data set's graph, in evaluation mode, for example to differentiate it. ArgumentError
  /// when the number of features differs.
  std::shared_ptr<Model> on(const Dataset& data) const;

 private:
  TrainConfig config_;
  int64_t features_, classes_;
  bool multi_label_;
  std::map<std::string, torch::Tensor> weights_;
};

/// Loads a model from a run folder or its model.safetensors. DataError when it is missing or no checkpoint,
/// ResourceError when it cannot be read.
TrainedModel load_model(const std::string& path);

/// The program's version, such as "0.2.0".
const char* version();

}  // namespace eignn
