#include "equilibrium/door.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "eignn/error.h"

namespace eignn::detail {

namespace {

std::string shape_of(torch::IntArrayRef sizes) {
  std::vector<std::string> names;
  for (const int64_t size : sizes) names.push_back(size < 0 ? "any" : std::to_string(size));
  return fmt::format("({})", fmt::join(names, ", "));
}

std::string name_of(torch::Dtype dtype) {
  return c10::toString(dtype);
}

// A contiguous tensor without a pending negation, so that its memory can be read directly.
torch::Tensor readable(const torch::Tensor& t) {
  return t.is_neg() ? t.resolve_neg().contiguous() : t.contiguous();
}

}  // namespace

bool TensorSnapshot::is(const torch::Tensor& other) const {
  if (!tensor_.defined() || !other.defined() || tensor_.is_inference() || other.is_inference()) return false;
  if (tensor_.is_sparse() || other.is_sparse())
    return tensor_.is_sparse() && other.is_sparse() && tensor_.sizes() == other.sizes() &&
           tensor_._values().is_alias_of(other._values()) && tensor_._version() == version_ &&
           other._version() == version_;
  return tensor_.sizes() == other.sizes() && tensor_.strides() == other.strides() &&
         tensor_.data_ptr() == other.data_ptr() && tensor_.scalar_type() == other.scalar_type() &&
         tensor_._version() == version_ && other._version() == version_;
}

void Door::require(const torch::Tensor& t, const char* field, torch::IntArrayRef shape) const {
  if (!t.defined())
    throw ArgumentError(field, "the tensor is undefined", "give one of shape " + shape_of(shape));
  bool fits = t.dim() == static_cast<int64_t>(shape.size());
  for (size_t k = 0; fits && k < shape.size(); ++k)
    fits = shape[k] < 0 || t.size(static_cast<int64_t>(k)) == shape[k];
  if (!fits)
    throw ArgumentError(field, fmt::format("the shape is {}", shape_of(t.sizes())),
                        "it must be " + shape_of(shape));
  if (t.layout() != torch::kStrided) throw ArgumentError(field, "the tensor is sparse", "give a dense one");
  if (t.scalar_type() != dtype)
    throw ArgumentError(field, fmt::format("the type is {}", name_of(t.scalar_type())),
                        fmt::format("this solver computes in {}", name_of(dtype)));
  if (t.device().type() != device.type() || (device.has_index() && t.device() != device))
    throw ArgumentError(field, fmt::format("the tensor is on {}", t.device().str()),
                        fmt::format("this solver computes on {}", device.str()));
}

int64_t Door::features_of_weight(const torch::Tensor& F) const {
  require(F, "F", {-1, -1});
  const int64_t rows = F.size(0), m = F.size(1);
  if (rows > m || (rows == 0 && m > 0))
    throw ArgumentError("F", fmt::format("the shape is {}", shape_of(F.sizes())),
                        fmt::format("it must have 1 to {} rows, a column for each feature", m));
  return m;
}

torch::Tensor Door::features(const torch::Tensor& X, int64_t m) {
  require(X, "X", {nodes, m});
  if (features_ && features_->given.is_same(X) && features_->version == X._version())
    return features_->contiguous;
  features_.reset();
  // The copy keeps the gradient flag, from which solvers infer that the next solve will have another X.
  torch::Tensor ours = X.is_inference() ? X.clone() : X;
  if (!X.is_contiguous() || X.is_neg()) ours = readable(ours.detach()).set_requires_grad(X.requires_grad());
  if ((X.is_cpu() || !X.requires_grad()) && X.numel() > 0) {
    const auto [least, most] = torch::aminmax(ours.detach());
    if (!std::isfinite(least.item<double>()) || !std::isfinite(most.item<double>()))
      throw ArgumentError("X", "a feature is not finite", "replace NaN and infinities before the solve");
  }
  // Only leaf tensors are remembered: an encoder's output is used once, and keeping it would keep its
  // autograd history.
  if (!X.is_inference() && X.is_leaf()) features_ = Checked{X, X._version(), ours};
  return ours;
}

torch::Tensor Door::sparse_features(const torch::Tensor& X, int64_t m) {
  if (features_ && features_->given.is_same(X) && features_->version == X._version()) return X;
  if (!X.is_coalesced()) throw ArgumentError("X", "the sparse tensor is not coalesced", "give X.coalesce()");
  if (X.sparse_dim() != 2 || X.size(0) != nodes || X.size(1) != m)
    throw ArgumentError("X", fmt::format("the shape is {}", shape_of(X.sizes())),
                        fmt::format("it must be ({}, {})", nodes, m));
  if (X.requires_grad()) throw ArgumentError("X", "a sparse tensor has no gradient here", "give a dense one");
  const auto values = X._values();
  require(values, "X", {-1});
  if (values.numel() > 0 && !torch::isfinite(values).all().item<bool>())
    throw ArgumentError("X", "a feature is not finite", "replace NaN and infinities before the solve");
  features_ = Checked{X, X._version(), X};
  return X;
}

torch::Tensor Door::index(const torch::Tensor& given) {
  if (!given.defined()) return given;
  const auto seen = std::find_if(indices_.begin(), indices_.end(),
                                 [&](const Checked& c) { return c.given.is_same(given); });
  if (seen != indices_.end()) {
    if (seen->version == given._version()) return seen->contiguous;
    indices_.erase(seen);
  }
  if (given.dim() != 1)
    throw ArgumentError("index", fmt::format("the shape is {}", shape_of(given.sizes())),
                        "it must be (rows)");
  if (given.layout() != torch::kStrided)
    throw ArgumentError("index", "the tensor is sparse", "give a dense one");
  if (given.scalar_type() != torch::kInt64)
    throw ArgumentError("index", fmt::format("the type is {}", name_of(given.scalar_type())),
                        "it must be Long");
  if (given.device().type() != device.type() || (device.has_index() && given.device() != device))
    throw ArgumentError("index", fmt::format("the tensor is on {}", given.device().str()),
                        fmt::format("this solver computes on {}", device.str()));
  // Inference tensors are copied, since they have no version counter that tells of changes.
  const auto ours = given.is_inference() ? given.clone() : given.contiguous();
  if (given.numel() > 0) {
    const auto [least, most] = torch::aminmax(ours);
    for (const int64_t node : {least.item<int64_t>(), most.item<int64_t>()})
      if (node < 0 || node >= nodes)
        throw ArgumentError(
            "index", fmt::format("node {} does not exist", node),
            nodes == 0 ? "this graph has no nodes" : fmt::format("ids run from 0 to {}", nodes - 1));
  }
  if (given.is_inference()) return ours;
  constexpr size_t kept = 8;
  if (indices_.size() == kept) indices_.erase(indices_.begin());
  indices_.push_back({given, given._version(), ours});
  return ours;
}

ScaledRows Door::cotangent(const ScaledRows& Y, int64_t rows, int64_t m) const {
  require(Y.values, "Y", {rows, m});
  ScaledRows out{readable(Y.values.detach()), {}};
  if (!Y.exponents.defined()) return out;
  const auto& e = Y.exponents;
  constexpr int64_t farthest = 1 << 30;
  if (e.scalar_type() != torch::kInt64 || e.dim() != 1 || e.size(0) != rows ||
      e.device() != Y.values.device())
    throw ArgumentError("Y.exponents",
                        fmt::format("they are {} of type {}", shape_of(e.sizes()), name_of(e.scalar_type())),
                        fmt::format("give ({}) of type Long, on Y's device", rows));
  if (rows > 0) {
    const auto [least, most] = torch::aminmax(e);
    if (least.item<int64_t>() < -farthest || most.item<int64_t>() > farthest)
      throw ArgumentError("Y.exponents", "an exponent is beyond 2^30", "scale the cotangent down");
  }
  out.exponents = e.contiguous();
  return out;
}

void Inputs::require_unchanged() const {
  const auto require = [](const TensorSnapshot& seen, const char* field) {
    if (!seen.unchanged())
      throw ArgumentError(field, fmt::format("{} was written to after the solve", field), "solve again");
  };
  require(F, "F");
  require(X, "X");
  require(C, "C");
}

}  // namespace eignn::detail
