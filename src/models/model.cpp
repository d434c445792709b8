// The part of Model that all models share: argument checks and dropout.
#include "eignn/model.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include "eignn/error.h"
#include "equilibrium/torch_errors.h"
#include "models/check_features.h"
#include "models/cluster_means.h"
#include "models/dropout_mask.h"

namespace eignn {

namespace {

// A device without an index ("cuda") matches every device of its type.
bool same_device(torch::Device a, torch::Device b) {
  return a.type() == b.type() && (a == b || !a.has_index() || !b.has_index());
}

}  // namespace

Model::Model(const Shape& shape) : dropout_generator_(generator_on(torch::kCPU)), shape_(shape) {
  if (!shape_.type.device().is_cpu()) device_generator_ = generator_on(shape_.type.device());
}

torch::Tensor Model::scores(const torch::Tensor& index) {
  return with_our_errors("scores", [&]() -> torch::Tensor {
    check_index(index);
    if (!has_clusters()) return labels_ ? scores_with_labels(index) : do_scores(index);
    const Clusters of = clusters_of(index);
    return do_scores(of.clusters).index_select(0, of.place);
  });
}

void Model::use_features(const torch::Tensor& X) {
  return with_our_errors("use_features", [&]() -> void {
    check_features(X, shape_.type, takes_sparse_features());
    if (X.size(0) != shape_.nodes || X.size(1) != shape_.features)
      throw ArgumentError("X",
                          fmt::format("the features are {} by {}, and the model's are {} by {}", X.size(0),
                                      X.size(1), shape_.nodes, shape_.features),
                          "give a row for every node and a column for every feature");
    const auto rows = has_clusters() ? cluster_means(X, cluster_of_, cluster_sizes_) : X;
    if (!reads_labels()) return do_use_features(rows);
    X_ = rows.to(shape_.type);
    do_use_features(with_label_columns());
  });
}

void Model::predict_by_clusters(const torch::Tensor& cluster_of) {
  return with_our_errors("predict_by_clusters", [&]() -> void {
    if (has_clusters())
      throw ArgumentError("cluster_of", "the model has clusters already", "make another model");
    if (!cluster_of.defined() || cluster_of.scalar_type() != torch::kInt64 || cluster_of.dim() != 1 ||
        cluster_of.layout() != torch::kStrided || !cluster_of.is_cpu())
      throw ArgumentError("cluster_of", "the clusters are no row of numbers",
                          "give int64 numbers on the CPU, one for each node");
    const bool in_range = cluster_of.numel() > 0 && cluster_of.min().item<int64_t>() >= 0 &&
                          cluster_of.max().item<int64_t>() < shape_.nodes;
    const auto sizes = in_range ? torch::bincount(cluster_of, {}, shape_.nodes) : torch::Tensor();
    if (!in_range || sizes.min().item<int64_t>() == 0)
      throw ArgumentError("cluster_of", "a cluster has no node, or a node no cluster",
                          fmt::format("give each of 0 to {}", shape_.nodes - 1));
    cluster_of_ = cluster_of.clone().to(shape_.type.device());
    cluster_sizes_ = sizes.to(shape_.type.device());
    shape_.nodes = cluster_of.numel();
    checked_.clear();
  });
}

Model::Clusters Model::clusters_of(const torch::Tensor& index) {
  const bool versioned = !index.is_inference();
  const int64_t version = versioned ? static_cast<int64_t>(index._version()) : 0;
  for (const Clusters& known : kept_clusters_)
    if (versioned && known.index.is_same(index) && known.version == version) return known;
  auto [clusters, place] =
      at::_unique(cluster_of_.index_select(0, index), /*sorted=*/true, /*return_inverse=*/true);
  Clusters out{index, version, clusters, place};
  if (!versioned) return out;
  constexpr size_t kept = 4;  // training, validation, test, all
  if (kept_clusters_.size() == kept) kept_clusters_.erase(kept_clusters_.begin());
  kept_clusters_.push_back(out);
  return out;
}

void Model::check_index(const torch::Tensor& index) {
  if (!index.defined()) throw ArgumentError("index", "the index is undefined", "name the nodes to score");
  if (index.scalar_type() != torch::kInt64 || index.layout() != torch::kStrided)
    throw ArgumentError("index",
                        fmt::format("the index has numbers of type {}", c10::toString(index.scalar_type())),
                        "give node numbers as int64");
  if (index.dim() != 1)
    throw ArgumentError("index", fmt::format("the index has {} dimensions", index.dim()),
                        "give one row of node numbers");
  if (!same_device(index.device(), shape_.type.device()))
    throw ArgumentError("index",
                        fmt::format("the index is on {}, and the model on {}", index.device().str(),
                                    shape_.type.device().str()),
                        "move the index to the model's device");
  if (index.numel() == 0) return;
  const bool versioned = !index.is_inference();
  const int64_t version = versioned ? static_cast<int64_t>(index._version()) : 0;
  for (const CheckedIndex& known : checked_)
    if (versioned && known.index.is_same(index) && known.version == version) return;
  const int64_t least = index.min().item<int64_t>(), most = index.max().item<int64_t>();
  if (least < 0 || most >= shape_.nodes)
    throw ArgumentError("index",
                        fmt::format("there is no node {}: the graph has {} of them, numbered from 0",
                                    least < 0 ? least : most, shape_.nodes),
                        "ask for nodes of the graph");
  if (!versioned) return;
  constexpr size_t kept = 4;  // training, validation, test, all
  if (checked_.size() == kept) checked_.erase(checked_.begin());
  checked_.push_back({index, version});
}

void Model::seed_dropout(uint64_t seed, const torch::Tensor& rows) {
  dropout_rows_ = rows;
  dropout_generator_.set_current_seed(seed);
  if (device_generator_.defined()) device_generator_.set_current_seed(seed);
}

torch::Tensor Model::dropout(const torch::Tensor& x, double p) {
  if (!is_training() || p == 0) return x;
  if (x.is_cuda())  // as torch::dropout does it, with a generator of our own
    return x.numel() == 0 ? x : std::get<0>(torch::_fused_dropout(x, 1 - p, device_generator_));
  return x * dropout_mask(x.sizes(), x.options(), p, dropout_generator_, dropout_rows_);
}

}  // namespace eignn
