// Base of the baselines: features, graphs, initial weights.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <string>
#include <vector>

#include "eignn/model.h"
#include "models/features.h"
#include "models/graph_parts.h"

namespace eignn {

/// The arguments of a baseline's constructor.
struct BaselineInputs {
  std::vector<GraphMatrix> graphs;
  const torch::Tensor& X;
  int64_t classes;
  torch::TensorOptions type;
  uint64_t seed;
  /// Where components of a graph are equal, features included, the last of `graphs` has one component of each
  /// kind, and like[v] is the counterpart of node v there. Empty: there is no such graph.
  std::vector<int64_t> like = {};
};

/// A network in which nodes interact only along the graph, so that disjoint graphs are computed one by one
/// with the same scores as their union. A model implements forward() for one graph.
class GraphModel : public Model {
 public:
  double preprocess_seconds() const override { return preprocess_seconds_; }

 protected:
  GraphModel(const BaselineInputs& inputs, double dropout);

  torch::Tensor do_scores(const torch::Tensor& index) override;
  void do_use_features(const torch::Tensor& X) override;

  /// The scores of the nodes `rows` of graph g, whose features are X.
  virtual torch::Tensor forward(size_t g, const Features& X, const torch::Tensor& rows) = 0;
  /// Whether equal components have equal states in training too, apart from dropout on the requested rows at
  /// the end of forward().
  virtual bool equal_components_stay_equal() const { return dropout_ == 0; }
  /// Called when the features change: what was derived from them must be dropped.
  virtual void features_changed() {}

  /// Dropout with the probability of the options.
  torch::Tensor dropped(const torch::Tensor& x) { return dropout(x, dropout_); }
  Features dropped(const Features& X);
  torch::Tensor dropped_relu(const torch::Tensor& x);

  // Registers a parameter. `start` is drawn in float64, so that a seed gives the same start in every
  // precision.
  torch::Tensor parameter(const std::string& name, const torch::Tensor& start);
  /// (in, out) ~ U(-b, b) with b = √(6/(in + out)): Glorot and Bengio's.
  torch::Tensor glorot(const std::string& name, int64_t in, int64_t out);
  torch::Tensor zeros(const std::string& name, int64_t size);

  double dropout_;
  torch::TensorOptions type_;
  int64_t width_, classes_;  // features of a node, scores of a node
  at::Generator start_;      // for initial weights
  double preprocess_seconds_ = 0;

 private:
  void set_features(const torch::Tensor& X);

  GraphParts parts_;
  std::vector<Features> X_;  // of each graph, by the number that forward() takes
  // BaselineInputs::like, and the nodes of its graph, which is the last one; undefined: not used.
  torch::Tensor like_, alike_nodes_;
};

/// x W + b for a layer's weights.
struct Linear {
  torch::Tensor W, b;
  torch::Tensor operator()(const torch::Tensor& x) const { return torch::addmm(b, x, W); }
  torch::Tensor operator()(const Features& X) const { return X.mm(W).add_(b); }
};

}  // namespace eignn
