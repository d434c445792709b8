// The eigenpairs of a symmetric S of largest magnitude, for the solver truncated.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "eignn/propagation.h"

namespace eignn {

/// k eigenpairs of S by falling |λ|, in float64 on the CPU.
struct LeadingPairs {
  torch::Tensor lambda;            // (k,)
  torch::Tensor one_minus_lambda;  // (k,), exactly 0 where a component without slack has λ = 1
  torch::Tensor Q;                 // (n, k), orthonormal columns
  double next = 0;                 // |λ_{k+1}|, of the largest that is left out; 0 where none is
};

/// `automatic` decomposes a component densely where it is small, or where an eighth of its pairs or more are
/// asked for, and runs Lanczos on the others.
enum class EigenMethod { automatic, lanczos };

/// Component by component, equal ones once, so that an eigenvalue that several components share is there as
/// often as it occurs. Lanczos sees one vector of each eigenspace only: after it has converged it is run
/// again, from another start, on what is left of S beside the pairs found, until that is no larger than the
/// smallest of them. The largest that is left is |λ_{k+1}|, to a thousandth, by which it is raised.
///
/// Deterministic: start vectors are fixed. ArgumentError{"eigenpairs"} unless 1 ≤ k ≤ n, or k = n = 0;
/// ConvergenceError where Lanczos does not converge; ResourceError where it is needed and this build has
/// none.
LeadingPairs leading_pairs(const Propagation& S, int64_t k, EigenMethod method = EigenMethod::automatic);

}  // namespace eignn
