// The semi-iteration of `sparse` without the eigenbasis of g.
#pragma once

#include <cstdint>
#include <memory>

#include "eignn/solver.h"
#include "equilibrium/node_operator.h"

namespace eignn {

/// The products with S that the semi-iteration takes at most to the tolerance, where the spectrum of γ S⊗g
/// lies in [-a, a]; for a directed S of norm 1 or less. Infinite (the largest number) where a is 1.
int64_t products_of_semi_iteration(double a, bool symmetric, double tolerance);

/// Z for these F and X. Null where the series would be longer than `most_products_without_eigenbasis`, or
/// the features are so many that an eigendecomposition of g costs little beside the products with it.
std::shared_ptr<Equilibrium> solve_without_eigenbasis(std::shared_ptr<const NodeOperator> S,
                                                      const torch::Tensor& F, const torch::Tensor& X,
                                                      const SolverOptions& options);

constexpr int64_t most_products_without_eigenbasis = 100, most_features_without_eigenbasis = 512;

}  // namespace eignn
