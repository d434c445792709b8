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

/// What a model says of every node of a data set.
struct Predictions {
  torch::Tensor scores;  // (n, classes)
  torch::Tensor
      probabilities;      // (n, classes), float64: softmax, or one by one where a node has a set of labels
  torch::Tensor classes;  // int64 (n,), the likeliest; uint8 (n, classes) where a node has a set of labels
};

/// Loss and score (accuracy, or micro-F1 for sets of labels) at some nodes.
struct Evaluation {
  double loss = 0, score = 0;
};

/// Weights and options; any graph with the same number of features will do.
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

  /// Writes one safetensors file, under a temporary name first. ResourceError when that fails.
  void save(const std::string& path) const;

  /// The features are taken as the data set has them, and normalised as they were in training. ArgumentError
  /// when their number differs. No labels and no splits are needed.
  Predictions predict(const Dataset& data) const;

  /// At these nodes (int64), whose labels the data set must know.
  Evaluation evaluate(const Dataset& data, const torch::Tensor& nodes) const;

  /// The model on this data set's graph, in evaluation mode, for whoever wants to differentiate it.
  std::shared_ptr<Model> on(const Dataset& data) const;

 private:
  TrainConfig config_;
  int64_t features_, classes_;
  bool multi_label_;
  std::map<std::string, torch::Tensor> weights_;
};

/// From a run folder or its model.safetensors. DataError when it is none, ResourceError when it cannot be
/// read.
TrainedModel load_model(const std::string& path);

/// The program's version, such as "0.2.0".
const char* version();

}  // namespace eignn
