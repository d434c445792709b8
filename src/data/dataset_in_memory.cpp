// Data sets from tensors that a caller holds.
#include <fmt/format.h>
#include <torch/torch.h>

#include "data/random_split.h"
#include "data/sparse_tensor.h"
#include "eignn/dataset.h"
#include "eignn/error.h"

namespace eignn {

namespace {

void require(bool holds, const char* field, const std::string& problem, const char* remedy) {
  if (!holds) throw ArgumentError(field, problem, remedy);
}

}  // namespace

Dataset load(const std::string& name_or_path, uint64_t seed) {
  return load_dataset(name_or_path, {}, seed);
}

Dataset make_dataset(Graph graph, const torch::Tensor& features, const torch::Tensor& labels, uint64_t seed) {
  require(features.defined() && features.dim() == 2 && features.size(0) == graph.nodes, "features",
          "there must be a row of features for each node",
          fmt::format("give a tensor ({}, m)", graph.nodes).c_str());
  require(features.is_floating_point(), "features", "features are floating-point numbers",
          "convert them with .to(torch::kFloat64)");
  Dataset set;
  set.name = "memory";
  set.arcs_in_file = graph.arcs();
  set.graph = std::move(graph);
  const bool sparse = features.is_sparse();
  set.features = features.detach().to(torch::kCPU, torch::kFloat64);
  set.features = sparse ? set.features.coalesce() : set.features.contiguous();
  require(torch::isfinite(stored_numbers(set.features)).all().item<bool>(), "features",
          "a feature is not a finite number", "fill gaps first, with a median or a mean");
  if (!labels.defined()) return set;

  const int64_t n = set.nodes();
  set.labels = labels.detach().to(torch::kCPU).contiguous();
  const bool sets = labels.dim() == 2 && labels.scalar_type() == torch::kUInt8;
  require((sets || (labels.dim() == 1 && labels.scalar_type() == torch::kInt64)) && labels.size(0) == n,
          "labels", "labels are int64 (n,), one a node, or uint8 (n, classes), sets of them",
          "convert them, with a row for each node");
  if (sets) {
    set.classes = labels.size(1);
    set.known = torch::ones({n}, torch::kBool);
  } else {
    require(n == 0 || set.labels.min().item<int64_t>() >= -1, "labels", "a label is below -1",
            "number the classes from 0, and give -1 where a label is not known");
    set.classes = n == 0 ? 0 : set.labels.max().item<int64_t>() + 1;
    set.known = set.labels >= 0;
  }
  set.splits.push_back(random_split(set, seed));
  set.drawn_split = true;
  return set;
}

}  // namespace eignn
