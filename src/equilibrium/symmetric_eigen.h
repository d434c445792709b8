#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <utility>

namespace eignn {

using EigenPairs = std::pair<torch::Tensor, torch::Tensor>;

/// Eigenvalues, ascending, and eigenvectors by columns of a symmetric matrix, in its precision and on its
/// device. ConvergenceError when a value is not finite.
EigenPairs symmetric_eigen(const torch::Tensor& A);

/// ResourceError where LAPACK cannot count the work space of a matrix of this size. To be called before
/// memory is allocated for it.
void require_decomposable(int64_t n);

/// Decomposes by `on_device`. Where that fails on a finite matrix, as GPU solvers sometimes do, decomposes on
/// the CPU and warns.
EigenPairs eigen_or_on_cpu(const torch::Tensor& A,
                           const std::function<EigenPairs(const torch::Tensor&)>& on_device);

}  // namespace eignn
