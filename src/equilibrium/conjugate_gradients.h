// Conjugate gradients on many symmetric positive definite systems at once.
#pragma once

#include <torch/types.h>

#include <functional>
#include <string>

#include "eignn/solver.h"

namespace eignn {

/// Solves A Z = X for every column, starting from Z, until the recomputed residual has ‖r‖ ≤ tol (‖X‖ + ‖Z‖).
/// Returns the number of products with A. ConvergenceError where that cannot be reached; `solver` and
/// `remedy` go into its message.
int64_t conjugate_gradients(const std::function<torch::Tensor(const torch::Tensor&)>& A,
                            const torch::Tensor& X, const SolverOptions& options, const std::string& solver,
                            const std::string& remedy, torch::Tensor& Z);

}  // namespace eignn
