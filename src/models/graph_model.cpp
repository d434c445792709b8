#include "models/graph_model.h"

#include <cmath>

#include "eignn/error.h"
#include "models/dropout_mask.h"

namespace eignn {

GraphModel::GraphModel(const BaselineInputs& in, double dropout)
    : dropout_(dropout),
      type_(in.type),
      width_(in.X.size(1)),
      classes_(in.classes),
      start_(at::detail::createCPUGenerator(in.seed)) {
  if (in.graphs.empty()) throw InputError("there is no graph to learn from; give at least one node");
  if (!in.like.empty()) like_ = torch::tensor(in.like, torch::kInt64).to(type_.device());
  for (const GraphMatrix& graph : in.graphs) {
    Part part;
    if (!graph.nodes.empty()) part.nodes = torch::tensor(graph.nodes, torch::kInt64);
    if (part.nodes.defined() && !like_.defined()) {
      graph_of_.resize(in.X.size(0), -1);
      local_.resize(in.X.size(0), -1);
      for (size_t k = 0; k < graph.nodes.size(); ++k) {
        graph_of_[graph.nodes[k]] = static_cast<int64_t>(graphs_.size());
        local_[graph.nodes[k]] = static_cast<int64_t>(k);
      }
    }
    graphs_.push_back(std::move(part));
  }
  set_features(in.X);
}

void GraphModel::use_features(const torch::Tensor& X) {
  // With other features, equal components need not be equal any more.
  if (like_.defined()) graphs_.pop_back();
  like_ = torch::Tensor();
  set_features(X);
}

void GraphModel::set_features(const torch::Tensor& X) {
  for (Part& part : graphs_)
    part.X = Features((part.nodes.defined() ? X.index_select(0, part.nodes.to(X.device())) : X).to(type_));
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

torch::Tensor GraphModel::scores(const torch::Tensor& index) {
  // A GPU adds up the gradients of equal rows in no fixed order.
  const bool alike = !is_training() || (index.is_cpu() && alike_stay_alike());
  if (like_.defined() && alike)
    return forward(graphs_.size() - 1, graphs_.back().X, like_.index_select(0, index));
  return graph_of_.empty() ? forward(0, graphs_[0].X, index) : scores_of_several(index);
}

torch::Tensor GraphModel::scores_of_several(const torch::Tensor& index) {
  const auto nodes = index.to(torch::kCPU).contiguous();
  const int64_t* v = nodes.data_ptr<int64_t>();
  std::vector<std::vector<int64_t>> rows(graphs_.size()), at(graphs_.size());  // in the graph, in the index
  for (int64_t k = 0; k < nodes.numel(); ++k) {
    rows[graph_of_[v[k]]].push_back(local_[v[k]]);
    at[graph_of_[v[k]]].push_back(k);
  }
  const auto ready = [&](const std::vector<int64_t>& numbers) {
    return torch::tensor(numbers, torch::kInt64).to(type_.device());
  };
  std::vector<torch::Tensor> below;  // the scores of one graph after the other
  std::vector<int64_t> order;
  for (size_t g = 0; g < graphs_.size(); ++g) {
    if (rows[g].empty()) continue;
    below.push_back(forward(g, graphs_[g].X, ready(rows[g])));
    order.insert(order.end(), at[g].begin(), at[g].end());
  }
  if (below.empty()) return torch::zeros({0, classes_}, type_);
  return torch::cat(below, 0).index_select(0, ready(order).argsort());
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
