// The few dense operations that libtorch does in more passes over memory, or more arithmetic, than they need.
#pragma once

#include <torch/types.h>

#include <utility>

namespace eignn {

/// FᵀF. On a CPU by a symmetric product, which takes half the arithmetic of a general one.
torch::Tensor gram_of(const torch::Tensor& F);

/// ⟨a_j, b_j⟩ of every row, (n, 1).
torch::Tensor row_dots(const torch::Tensor& a, const torch::Tensor& b);

/// A symmetric matrix on the CPU. Entries below the diagonal are neither stored nor read.
class Symmetric {
 public:
  /// R + Rᵀ; overwrites R.
  static Symmetric sum_of(const torch::Tensor& R);
  /// leftᵀ right + rightᵀ left, of (k, m) each.
  static Symmetric product_of(const torch::Tensor& left, const torch::Tensor& right);

  /// A ← A + c B for a scalar tensor c and a symmetric B; returns ⟨A, B⟩ of the new A. One pass.
  torch::Tensor add_and_dot_(const torch::Tensor& c, const torch::Tensor& B);
  void add_(const torch::Tensor& c, const torch::Tensor& B);
  /// factor · F A
  torch::Tensor multiplied(const torch::Tensor& F, const torch::Tensor& factor) const;

 private:
  explicit Symmetric(torch::Tensor entries) : A_(std::move(entries)) {}
  torch::Tensor A_;
};

}  // namespace eignn
