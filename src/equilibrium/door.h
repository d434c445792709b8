// The checks that stand before every solver, so that no wrong argument reaches a kernel.
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

/// A tensor and the state in which it was seen. Inference tensors do not count their versions: they are
/// copied where they are kept.
class Seen {
 public:
  Seen() = default;
  explicit Seen(const torch::Tensor& tensor) : tensor_(tensor.detach()), version_(version_of(tensor)) {}

  bool unchanged() const { return !tensor_.defined() || version_of(tensor_) == version_; }
  /// Whether this is the same memory, read in the same way, in the same state.
  bool is(const torch::Tensor& other) const;

 private:
  static int64_t version_of(const torch::Tensor& t) { return t.is_inference() ? -1 : t._version(); }

  torch::Tensor tensor_;
  int64_t version_ = 0;
};

/// One per solver, shared with all that it solved.
struct Door {
  Door(const Propagation& S, const SolverOptions& options)
      : nodes(S.nodes), dtype(options.dtype), device(options.device) {}

  const int64_t nodes;
  const torch::Dtype dtype;
  const torch::Device device;
  std::recursive_mutex mutex;  // a projection by way of Z comes in twice

  /// ArgumentError unless `t` is a defined, dense tensor of the solver's type and device with this shape; -1
  /// is any.
  void require(const torch::Tensor& t, const char* field, torch::IntArrayRef shape) const;
  /// The features, contiguous: looked through once per tensor and version.
  torch::Tensor features(const torch::Tensor& X, int64_t m);
  /// The index, contiguous, its range checked once per tensor and version; undefined stays so.
  torch::Tensor index(const torch::Tensor& given);
  int64_t rows(const torch::Tensor& index) const { return index.defined() ? index.size(0) : nodes; }
  ScaledRows cotangent(const ScaledRows& Y, int64_t rows, int64_t m) const;

 private:
  struct Checked {
    torch::Tensor given;
    int64_t version;
    torch::Tensor contiguous;
  };
  std::vector<Checked> indices_;  // train, validation, test, and some to spare
  std::optional<Checked> features_;
};

struct Inputs {
  std::shared_ptr<Door> door;
  int64_t features;  // m
  Seen F, X, C;
  int64_t columns = 0;  // of C

  /// ArgumentError where F, X or C was written to after the solve.
  void require_unchanged() const;
};

/// Neither autograd nor inference mode inside: tensors that solvers keep serve later calls in any mode. A
/// thread that libtorch has not seen takes libtorch's number of threads first; BLAS would take OpenMP's, and
/// round differently.
class PlainMode {
 public:
  PlainMode() {
    at::get_num_threads();
    if (c10::InferenceMode::is_enabled()) normal_.emplace(false);
    no_grad_.emplace();
  }

 private:
  std::optional<c10::InferenceMode> normal_;
  std::optional<torch::NoGradGuard> no_grad_;
};

/// work() behind the lock, in plain mode, with our own errors.
template <class Work>
auto behind(Door& door, const char* where, Work work) {
  const std::lock_guard<std::recursive_mutex> lock(door.mutex);
  const PlainMode mode;
  return with_our_errors(where, work);
}

}  // namespace eignn::detail
