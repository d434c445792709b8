// The features of a graph's nodes: dense, and also sparse where few entries are not zero (bags of words,
// chains), so that the first layer skips the zeros.
#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>

namespace eignn {

class Features {
 public:
  Features() = default;
  /// Sparse if X is on the CPU, needs no gradient and has at most one non-zero entry in eight.
  explicit Features(const torch::Tensor& X);

  torch::Tensor dense() const;
  /// X W, differentiable in W and, where X requires a gradient, in X.
  torch::Tensor mm(const torch::Tensor& W) const;
  /// The features with `change` applied to their entries. It must map 0 to 0, because only the non-zero
  /// entries may be passed to it.
  Features changed(const std::function<torch::Tensor(const torch::Tensor&)>& change) const;

 private:
  struct Pattern;
  torch::Tensor X_;                         // undefined: given by the entries
  std::shared_ptr<const Pattern> pattern_;  // null: dense only
  torch::Tensor entries_;
};

}  // namespace eignn
