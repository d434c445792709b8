// What the baselines share: features, graphs, starting weights.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <string>
#include <vector>

#include "eignn/model.h"

namespace eignn {

/// All that a baseline is made from.
struct BaselineInputs {
  const std::vector<GraphMatrix>& graphs;
  const torch::Tensor& X;
  int64_t classes;
  const BaselineOptions& options;
  torch::TensorOptions type;
  uint64_t seed;
};

/// A network that mixes nodes along the graph and in no other way, so that several disjoint graphs are worked
/// on one by one: their union would give the same scores. A model says in forward() what it does to one.
class GraphModel : public Model {
 public:
  torch::Tensor scores(const torch::Tensor& index) override;
  void use_features(const torch::Tensor& X) override;
  double preprocess_seconds() const override { return preprocess_seconds_; }

 protected:
  explicit GraphModel(const BaselineInputs& inputs);

  /// The scores of all nodes of graph g, whose features are X.
  virtual torch::Tensor forward(size_t g, const torch::Tensor& X) = 0;
  /// What was derived from the features is out of date.
  virtual void features_changed() {}

  /// Dropout at --dropout; the features, where most of them are zero, at the cost of the others.
  torch::Tensor dropped(const torch::Tensor& x);

  // Drawn in float64, so that one seed means one start in every precision.
  torch::Tensor parameter(const std::string& name, const torch::Tensor& start);
  /// (in, out) ~ U(-b, b) with b = √(6/(in + out)): Glorot and Bengio's.
  torch::Tensor glorot(const std::string& name, int64_t in, int64_t out);
  torch::Tensor zeros(const std::string& name, int64_t size);

  BaselineOptions options_;
  torch::TensorOptions type_;
  int64_t width_, classes_;  // features of a node, scores of a node
  at::Generator start_;      // of the weights
  double preprocess_seconds_ = 0;

 private:
  struct Part {
    torch::Tensor nodes;  // rows of all features; undefined: all
    torch::Tensor X;
    torch::Tensor entries;  // where X is not zero, of X in one row; asked for by the first dropout
  };
  std::vector<Part> graphs_;
  std::vector<int64_t> graph_of_, local_;  // of each node; empty when there is one graph
};

/// x W + b for a layer's weights.
struct Linear {
  torch::Tensor W, b;
  torch::Tensor operator()(const torch::Tensor& x) const { return torch::addmm(b, x, W); }
};

}  // namespace eignn
