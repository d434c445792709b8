// The features of a graph's nodes: dense, and entry by entry where few of them are not zero (the words of a
// page, the first node of a chain), so that a first layer costs what it has to.
#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>

namespace eignn {

class Features {
 public:
  Features() = default;
  /// Entry by entry if X is on the CPU, needs no gradient and has at most one entry in eight that is not 0.
  explicit Features(const torch::Tensor& X);

  torch::Tensor dense() const;
  /// X W, differentiable in W and, where it asks for that, in X.
  torch::Tensor mm(const torch::Tensor& W) const;
  /// What `change` makes of the entries; it must leave a zero at zero, since it may not see them.
  Features changed(const std::function<torch::Tensor(const torch::Tensor&)>& change) const;

 private:
  struct Pattern;
  torch::Tensor X_;                         // undefined: as the entries say
  std::shared_ptr<const Pattern> pattern_;  // null: dense alone
  torch::Tensor entries_;
};

}  // namespace eignn
