#include "models/graph_model.h"

#include <cmath>

#include "models/dropout_mask.h"

namespace eignn {

namespace {

// The graphs without the last one where that has copies of nodes (BaselineInputs::like).
GraphParts parts_of(const BaselineInputs& in) {
  std::vector<std::vector<int64_t>> nodes_of;
  const size_t graphs = in.graphs.size() - (in.like.empty() ? 0 : 1);
  for (size_t g = 0; g < graphs; ++g) nodes_of.push_back(in.graphs[g].nodes);
  return {nodes_of, in.X.size(0), in.type.device()};
}

}  // namespace

GraphModel::GraphModel(const BaselineInputs& in, double dropout)
    : Model({in.X.size(0), in.X.size(1), in.classes, in.type}),
      dropout_(dropout),
      type_(in.type),
      width_(in.X.size(1)),
      classes_(in.classes),
      start_(at::detail::createCPUGenerator(in.seed)),
      parts_(parts_of(in)) {
  if (!in.like.empty()) {
    like_ = torch::tensor(in.like, torch::kInt64).to(type_.device());
    alike_nodes_ = torch::tensor(in.graphs.back().nodes, torch::kInt64);
  }
  set_features(in.X);
}

void GraphModel::do_use_features(const torch::Tensor& X) {
  like_ = alike_nodes_ = torch::Tensor();  // components with other features need not be equal any more
  set_features(X);
}

void GraphModel::set_features(const torch::Tensor& X) {
  X_.clear();
  for (size_t g = 0; g < parts_.graphs(); ++g) X_.emplace_back(parts_.rows_of(g, X).to(type_));
  if (alike_nodes_.defined()) X_.emplace_back(X.index_select(0, alike_nodes_.to(X.device())).to(type_));
  features_changed();
}

Features GraphModel::dropped(const Features& X) {
  if (!is_training() || dropout_ == 0) return X;
  return X.changed([&](const torch::Tensor& entries) { return dropped(entries); });
}

torch::Tensor GraphModel::dropped_relu(const torch::Tensor& x) {
  if (!is_training() || dropout_ == 0 || !x.is_cpu()) return dropped(torch::relu(x));
  return relu_and_dropout(x, dropout_, dropout_generator_);
}

torch::Tensor GraphModel::do_scores(const torch::Tensor& index) {
  // A GPU sums the gradients of repeated rows in no fixed order, so that training would not be reproducible.
  const bool alike = !is_training() || (index.is_cpu() && equal_components_stay_equal());
  if (like_.defined() && alike) return forward(X_.size() - 1, X_.back(), like_.index_select(0, index));
  if (parts_.one_with_all_nodes()) return forward(0, X_[0], index);
  const auto [pieces, order] = parts_.apart(index);
  if (pieces.empty()) return torch::zeros({0, classes_}, type_);
  std::vector<torch::Tensor> below;  // the scores, graph by graph
  for (const auto& [g, rows] : pieces) below.push_back(forward(g, X_[g], rows));
  return torch::cat(below, 0).index_select(0, order);
}

torch::Tensor GraphModel::parameter(const std::string& name, const torch::Tensor& start) {
  return register_parameter(name, start.to(type_));
}

torch::Tensor GraphModel::glorot(const std::string& name, int64_t in, int64_t out) {
  const double bound = std::sqrt(6.0 / static_cast<double>(in + out));
  return parameter(name, torch::empty({in, out}, torch::kFloat64).uniform_(-bound, bound, start_));
}

torch::Tensor GraphModel::zeros(const std::string& name, int64_t size) {
  return parameter(name, torch::zeros({size}, torch::kFloat64));
}

}  // namespace eignn
