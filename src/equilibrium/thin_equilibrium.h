// The equilibrium of a thin F, of r rows for m features: an equilibrium of width r by any solver, and
// products with X alone.
#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>

#include "eignn/solver.h"
#include "equilibrium/feature_product.h"

namespace eignn::detail {

/// What the equilibria of one solver share.
struct ThinProblem {
  std::shared_ptr<const Propagation> S;
  SparseProduct product;  // with S
  SolverOptions options;
};

/// Solves an equilibrium of width r, given F' (r, r) and its features (n, r).
using SolveNarrow =
    std::function<std::shared_ptr<Equilibrium>(const torch::Tensor& F, const torch::Tensor& X)>;

/// F is (r, m) with 1 ≤ r; ConvergenceError where its numbers are out of range.
std::shared_ptr<Equilibrium> solve_thin(std::shared_ptr<const ThinProblem> problem, const torch::Tensor& F,
                                        std::shared_ptr<const FeatureProduct> X, const SolveNarrow& solve);

}  // namespace eignn::detail
