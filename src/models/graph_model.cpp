#include "models/graph_model.h"

#include <algorithm>
#include <cmath>

#include "eignn/error.h"

namespace eignn {

GraphModel::GraphModel(const BaselineInputs& in)
    : options_(in.options),
      type_(in.type),
      width_(in.X.size(1)),
      classes_(in.classes),
      start_(at::detail::createCPUGenerator(in.seed)) {
  if (in.graphs.empty()) throw InputError("there is no graph to learn from; give at least one node");
  for (const GraphMatrix& graph : in.graphs) {
    Part part;
    if (!graph.nodes.empty()) {
      part.nodes = torch::tensor(graph.nodes, torch::kInt64);
      graph_of_.resize(in.X.size(0), -1);
      local_.resize(in.X.size(0), -1);
      for (size_t k = 0; k < graph.nodes.size(); ++k) {
        graph_of_[graph.nodes[k]] = static_cast<int64_t>(graphs_.size());
        local_[graph.nodes[k]] = static_cast<int64_t>(k);
      }
    }
    graphs_.push_back(std::move(part));
  }
  use_features(in.X);
}

void GraphModel::use_features(const torch::Tensor& X) {
  for (Part& part : graphs_) {
    part.X = (part.nodes.defined() ? X.index_select(0, part.nodes.to(X.device())) : X).to(type_);
    part.entries = torch::Tensor();
  }
  features_changed();
}

torch::Tensor GraphModel::dropped(const torch::Tensor& x) {
  const auto part =
      std::find_if(graphs_.begin(), graphs_.end(), [&](const Part& p) { return p.X.is_same(x); });
  const bool of_features = part != graphs_.end() && x.is_cpu() && !x.requires_grad();
  if (!of_features || !is_training() || options_.dropout == 0) return dropout(x, options_.dropout);
  if (!part->entries.defined()) part->entries = x.flatten().nonzero().squeeze(1);
  if (part->entries.numel() > x.numel() / 8) return dropout(x, options_.dropout);
  // A zero stays zero, dropped or not: only the others need a draw. (Words of a page: one or two in a
  // hundred.)
  auto out = torch::zeros_like(x);
  out.view({-1}).index_copy_(0, part->entries,
                             dropout(x.flatten().index_select(0, part->entries), options_.dropout));
  return out;
}

torch::Tensor GraphModel::scores(const torch::Tensor& index) {
  if (graph_of_.empty()) return forward(0, graphs_[0].X).index_select(0, index);
  const auto nodes = index.to(torch::kCPU).contiguous();
  const int64_t* v = nodes.data_ptr<int64_t>();
  std::vector<int64_t> offset(graphs_.size(), -1), at(nodes.numel());
  for (int64_t k = 0; k < nodes.numel(); ++k) offset[graph_of_[v[k]]] = 0;
  std::vector<torch::Tensor> below;  // the scores of one graph after the other
  int64_t rows = 0;
  for (size_t g = 0; g < graphs_.size(); ++g) {
    if (offset[g] < 0) continue;
    below.push_back(forward(g, graphs_[g].X));
    offset[g] = rows;
    rows += below.back().size(0);
  }
  for (int64_t k = 0; k < nodes.numel(); ++k) at[k] = offset[graph_of_[v[k]]] + local_[v[k]];
  return torch::cat(below, 0).index_select(0, torch::tensor(at, torch::kInt64).to(type_.device()));
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
