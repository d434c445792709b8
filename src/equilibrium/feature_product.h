// X as an equilibrium with a thin F reads it: by products with few columns, and some of its rows.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "equilibrium/sparse_product.h"

namespace eignn {

class FeatureProduct {
 public:
  /// X (n, m), not copied where it is dense. On a CPU the zeros of a dense one are skipped where at most one
  /// entry in eight is none. Of a sparse one (COO, coalesced) nothing of its shape is formed but by dense().
  explicit FeatureProduct(const torch::Tensor& X);
  /// An X of these entries.
  FeatureProduct(std::shared_ptr<const SparseEntries> X, torch::Dtype dtype, torch::Device device);

  int64_t nodes() const { return entries_ ? entries_->rows() : X_.size(0); }
  int64_t features() const { return entries_ ? entries_->columns : X_.size(1); }

  torch::Tensor times(const torch::Tensor& C) const;             // X C
  torch::Tensor transposed_times(const torch::Tensor& V) const;  // Xᵀ V
  torch::Tensor dense() const;                                   // (n, m)
  /// The same X with these rows alone. An undefined index stands for all rows. The last few are kept, since
  /// training reads the same rows in every epoch.
  const FeatureProduct& at(const torch::Tensor& index) const;

  /// Whether a row has an entry that is not zero, bool (n, 1).
  const torch::Tensor& filled() const;
  /// Of each column, (m,), the variance with n below.
  const torch::Tensor& mean() const;
  const torch::Tensor& variance() const;

 private:
  struct Rows {
    torch::Tensor index;
    int64_t version;
    std::unique_ptr<FeatureProduct> product;
  };
  void find_moments() const;

  torch::Tensor X_;                               // undefined: given by its entries
  std::shared_ptr<const SparseEntries> entries_;  // null: dense alone
  std::shared_ptr<const SparseProduct> product_;
  torch::Dtype dtype_;
  torch::Device device_;
  mutable std::vector<Rows> rows_;
  mutable torch::Tensor filled_, mean_, variance_;
};

}  // namespace eignn
