// T_p(S) X at the nodes that are asked for: all that a training epoch needs to know of a graph whose X stays.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>
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

  /// T_0 X, T_1 X, … at these nodes, (nodes, m) each: so many terms or more.
  const std::vector<torch::Tensor>& at(const torch::Tensor& index, int64_t terms);

  /// Whether so many terms at so many nodes are few enough to keep: not more than the four n×m matrices that
  /// an iteration works on, or 1 GiB.
  bool affordable(int64_t nodes, int64_t terms) const;

 private:
  /// The recurrence for T_p(S) X at all nodes, 64 columns (32 in float64) at a time.
  class Sweep {
   public:
    explicit Sweep(const torch::Tensor& X);
    /// The number of the term that stands there.
    int64_t term() const { return term_; }
    torch::Tensor rows(const torch::Tensor& index) const;
    void advance(const SparseProduct& S);

   private:
    struct Block {
      int64_t columns;          // that are X's; the others fill cache lines
      torch::Tensor now, last;  // T_p X, T_p-1 X
    };
    std::vector<Block> blocks_;
    int64_t term_ = 0;
  };
  struct Known {
    torch::Tensor index;
    std::vector<torch::Tensor> rows;
  };

  std::shared_ptr<const SparseProduct> S_;
  torch::Tensor X_;
  double norm_;
  std::optional<Sweep> sweep_;  // as far as the longest of `known_`
  std::vector<Known> known_;    // the last asked for comes last
};

}  // namespace eignn
