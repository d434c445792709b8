// The part of Model that all models share: argument checks and dropout.
#include "eignn/model.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include "eignn/error.h"
#include "equilibrium/torch_errors.h"
#include "models/check_features.h"
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
    return labels_ ? scores_with_labels(index) : do_scores(index);
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
    if (!reads_labels()) return do_use_features(X);
    X_ = X.to(shape_.type);
    do_use_features(with_label_columns());
  });
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

void Model::seed_dropout(uint64_t seed) {
  dropout_generator_.set_current_seed(seed);
  if (device_generator_.defined()) device_generator_.set_current_seed(seed);
}

torch::Tensor Model::dropout(const torch::Tensor& x, double p) {
  if (!is_training() || p == 0) return x;
  if (x.is_cuda())  // as torch::dropout does it, with a generator of our own
    return x.numel() == 0 ? x : std::get<0>(torch::_fused_dropout(x, 1 - p, device_generator_));
  return x * dropout_mask(x.sizes(), x.options(), p, dropout_generator_);
}

}  // namespace eignn
