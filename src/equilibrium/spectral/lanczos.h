// Some eigenpairs of S - Q Λ Qᵀ by an implicitly restarted Lanczos (Spectra).
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <utility>

#include "eignn/propagation.h"

namespace eignn {

/// The `count` eigenpairs of S - Q Λ Qᵀ of largest magnitude, each with a residual of at most tolerance ·
/// |λ|: values (count,) and vectors (n, count), which are orthonormal. `lambda` and Q (n, any) are eigenpairs
/// of S that are taken out; where that leaves nothing the values are 0, and the vectors too. S is symmetric
/// and has more nodes than `count`. `start` fixes the start vector. ConvergenceError where they do not
/// converge; ResourceError in a build without Spectra.
std::pair<torch::Tensor, torch::Tensor> lanczos(const Propagation& S, const torch::Tensor& lambda,
                                                const torch::Tensor& Q, int64_t count, double tolerance,
                                                uint64_t start);

}  // namespace eignn
