// The few dense operations that libtorch does in more passes over memory, or more arithmetic, than they need.
#pragma once

#include <torch/types.h>

namespace eignn {

/// FᵀF. On a CPU as the symmetric product it is: half the arithmetic of a general one.
torch::Tensor gram_of(const torch::Tensor& F);

/// ⟨a_j, b_j⟩ of every row, (n, 1).
torch::Tensor row_dots(const torch::Tensor& a, const torch::Tensor& b);

/// A ← A + Aᵀ in place; A is square and contiguous.
void symmetrise_(torch::Tensor& A);

/// A ← A + c B in place for a scalar tensor c; returns ⟨A, B⟩ of the new A. One pass.
torch::Tensor add_and_dot_(torch::Tensor& A, const torch::Tensor& c, const torch::Tensor& B);

}  // namespace eignn
