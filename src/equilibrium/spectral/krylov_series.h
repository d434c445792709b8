// The features as both of krylov's methods use them, and the method that computes f = Z C by a series.
#pragma once

#include <torch/types.h>

#include <memory>

#include "eignn/solver.h"
#include "equilibrium/range_of_s.h"

namespace eignn {

/// The features in the spectral coordinates of S's range.
struct KrylovSource : FeaturesInRange {
  KrylovSource(const RangeOfS& range, const torch::Tensor& X);

  double norm;           // ‖X‖
  torch::Tensor sketch;  // Ω: entries N(0, 1/8), so that E ‖r Ω‖² = ‖r‖²
};

/// f = Z C by the series with the coefficients `alpha` (chebyshev.h).
std::shared_ptr<Projection> make_krylov_series(std::shared_ptr<const RangeOfS> range,
                                               std::shared_ptr<const KrylovSource> source,
                                               torch::Tensor alpha, const torch::Tensor& F,
                                               const torch::Tensor& C, const SolverOptions& options);

}  // namespace eignn
