// T_p(S) X at the nodes that are asked for: all that a training epoch needs to know of a graph whose X stays.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "equilibrium/sparse_product.h"

namespace eignn {

/// Of one symmetric S and one X. Keeps what it was last asked for; what it says does not depend on that, so
/// that a run which is taken up again goes on as it would have.
class PropagatedFeatures {
 public:
  PropagatedFeatures(std::shared_ptr<const SparseProduct> S, torch::Tensor X);

  /// ‖X‖
  double norm() const { return norm_; }

  /// Rows of T_p(S) X at these nodes, (terms or more, nodes, m).
  torch::Tensor at(const torch::Tensor& index, int64_t terms);

  /// Whether so many terms at so many nodes are few enough to keep: not more than the four n×m matrices that
  /// an iteration works on, or 1 GiB.
  bool affordable(int64_t nodes, int64_t terms) const { return terms <= most_terms(nodes); }

 private:
  struct Known {
    torch::Tensor index, rows;
  };
  int64_t most_terms(int64_t nodes) const;
  torch::Tensor compute(const torch::Tensor& index, int64_t terms) const;

  std::shared_ptr<const SparseProduct> S_;
  torch::Tensor X_;
  double norm_;
  std::vector<Known> known_;  // the last asked for comes last
};

}  // namespace eignn
