#pragma once

#include <torch/types.h>

#include <utility>

namespace eignn {

/// Eigenvalues, ascending, and eigenvectors of a symmetric matrix.
std::pair<torch::Tensor, torch::Tensor> symmetric_eigen(const torch::Tensor& A);

}  // namespace eignn
