// What the baselines share: features, graphs, starting weights.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <string>
#include <vector>

#include "eignn/model.h"
#include "models/features.h"
#include "models/graph_parts.h"

namespace eignn {

/// All that a baseline is made from.
struct BaselineInputs {
  std::vector<GraphMatrix> graphs;
  const torch::Tensor& X;
  int64_t classes;
  torch::TensorOptions type;
  uint64_t seed;
  /// Where components of a graph are equal, features included, the last of `graphs` has one component of each
  /// kind, and this has for each node its counterpart there. Empty: no such graph.
  std::vector<int64_t> like = {};
};

/// A network that mixes nodes along the graph and in no other way, so that several disjoint graphs are worked
/// on one by one: their union would give the same scores. A model says in forward() what it does to one.
class GraphModel : public Model {
 public:
  double preprocess_seconds() const override { return preprocess_seconds_; }

 protected:
  GraphModel(const BaselineInputs& inputs, double dropout);

  torch::Tensor do_scores(const torch::Tensor& index) override;
  void do_use_features(const torch::Tensor& X) override;

  /// The scores of the nodes `rows` of graph g, whose features are X.
  virtual torch::Tensor forward(size_t g, const Features& X, const torch::Tensor& rows) = 0;
  /// Whether equal components have equal states in training too, up to what is drawn for each row at the end
  /// of forward().
  virtual bool alike_stay_alike() const { return dropout_ == 0; }
  /// What was derived from the features is out of date.
  virtual void features_changed() {}

  /// Dropout with the probability of the options.
  torch::Tensor dropped(const torch::Tensor& x) { return dropout(x, dropout_); }
  Features dropped(const Features& X);
  torch::Tensor dropped_relu(const torch::Tensor& x);

  // Drawn in float64, so that one seed means one start in every precision.
  torch::Tensor parameter(const std::string& name, const torch::Tensor& start);
  /// (in, out) ~ U(-b, b) with b = √(6/(in + out)): Glorot and Bengio's.
  torch::Tensor glorot(const std::string& name, int64_t in, int64_t out);
  torch::Tensor zeros(const std::string& name, int64_t size);

  double dropout_;
  torch::TensorOptions type_;
  int64_t width_, classes_;  // features of a node, scores of a node
  at::Generator start_;      // of the weights
  double preprocess_seconds_ = 0;

 private:
  void set_features(const torch::Tensor& X);

  GraphParts parts_;
  std::vector<Features> X_;  // of each graph, as forward() counts them
  // BaselineInputs::like and the nodes of its graph, the last that forward() knows; undefined: not to be
  // used.
  torch::Tensor like_, alike_nodes_;
};

/// x W + b for a layer's weights.
struct Linear {
  torch::Tensor W, b;
  torch::Tensor operator()(const torch::Tensor& x) const { return torch::addmm(b, x, W); }
  torch::Tensor operator()(const Features& X) const { return X.mm(W).add_(b); }
};

}  // namespace eignn
