// The argument checks that every solver's public functions make, so that no wrong argument reaches a kernel.
#pragma once

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "eignn/solver.h"
#include "equilibrium/torch_errors.h"

namespace eignn::detail {

/// A tensor and its version at the time it was seen. Inference tensors have no version counter; they are
/// copied where they are kept.
class TensorSnapshot {
 public:
  TensorSnapshot() = default;
  explicit TensorSnapshot(const torch::Tensor& tensor)
      : tensor_(tensor.detach()), version_(version_of(tensor)) {}

  bool unchanged() const { return !tensor_.defined() || version_of(tensor_) == version_; }
  /// Whether `other` is the same memory with the same shape and strides, unchanged since; false for inference
  /// tensors.
  bool is(const torch::Tensor& other) const;
  torch::Tensor zeros() const { return torch::zeros_like(tensor_); }

 private:
  static int64_t version_of(const torch::Tensor& t) { return t.is_inference() ? -1 : t._version(); }

  torch::Tensor tensor_;
  int64_t version_ = 0;
};

/// The checks and the lock of one solver, shared with its equilibria and projections.
struct Door {
  Door(const Propagation& S, const SolverOptions& options)
      : nodes(S.nodes), dtype(options.dtype), device(options.device) {}

  const int64_t nodes;
  const torch::Dtype dtype;
  const torch::Device device;
  std::recursive_mutex mutex;  // recursive: project() may call solve() while it holds the lock

  /// ArgumentError unless `t` is a defined, dense tensor of the solver's type and device with this shape; -1
  /// stands for any size.
  void require(const torch::Tensor& t, const char* field, torch::IntArrayRef shape) const;
  /// The number of columns of an F, which has 1 to as many rows.
  int64_t features_of_weight(const torch::Tensor& F) const;
  /// X as a contiguous tensor, checked to be finite (on a GPU only where it requires no gradient). A leaf
  /// tensor is checked once per version.
  torch::Tensor features(const torch::Tensor& X, int64_t m);
  /// The same of a sparse X, which must be COO and coalesced.
  torch::Tensor sparse_features(const torch::Tensor& X, int64_t m);
  /// The index as a contiguous tensor, its range checked once per tensor and version. An undefined index is
  /// returned as it is.
  torch::Tensor index(const torch::Tensor& given);
  int64_t rows(const torch::Tensor& index) const { return index.defined() ? index.size(0) : nodes; }
  ScaledRows cotangent(const ScaledRows& Y, int64_t rows, int64_t m) const;

 private:
  struct Checked {
    torch::Tensor given;
    int64_t version;
    torch::Tensor contiguous;
  };
  std::vector<Checked> indices_;  // the last eight: train, validation, test and others
  std::optional<Checked> features_;
};

struct Inputs {
  std::shared_ptr<Door> door;
  int64_t features;  // m
  TensorSnapshot F, X, C;
  int64_t columns = 0;  // of C

  /// ArgumentError where F, X or C was written to after the solve.
  void require_unchanged() const;
};

/// Turns autograd and inference mode off, because tensors that a solver keeps are used by later calls in any
/// mode. Makes a thread that is new to libtorch take libtorch's thread count; otherwise BLAS would use
/// OpenMP's count and round differently.
class WithoutAutograd {
 public:
  WithoutAutograd() {
    at::get_num_threads();
    if (c10::InferenceMode::is_enabled()) normal_.emplace(false);
    no_grad_.emplace();
  }

 private:
  std::optional<c10::InferenceMode> normal_;
  std::optional<torch::NoGradGuard> no_grad_;
};

/// Runs work() under the lock and in PlainMode, with libtorch's errors translated into ours.
template <class Work>
auto under_lock(Door& door, const char* where, Work work) {
  const std::lock_guard<std::recursive_mutex> lock(door.mutex);
  const WithoutAutograd mode;
  return with_our_errors(where, work);
}

}  // namespace eignn::detail
