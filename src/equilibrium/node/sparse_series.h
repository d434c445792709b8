// Z at a few nodes of a symmetric S, by a series whose products with S are computed once for all F;
// sparse_series.cpp has the equations.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "eignn/solver.h"
#include "equilibrium/contraction.h"
#include "equilibrium/node/propagated_features.h"
#include "equilibrium/node/resolvent_series.h"

namespace eignn {

/// The series for one g, over the features of one X.
class SparseSeries {
 public:
  /// Null where ‖X‖ is out of range, or the tolerance is below 10u (the series has no residual test), or the
  /// series would be too long. In the last case the memory of `features` is released.
  static std::unique_ptr<SparseSeries> make(std::shared_ptr<const NodeOperator> S,
                                            std::shared_ptr<PropagatedFeatures> features,
                                            const DecomposedContraction& g, const SolverOptions& options);

  /// Whether products of matrices of this norm stay in the floating range.
  static bool in_range(double norm) { return norm == 0 || (norm > 1e-12 && norm < 1e12); }

  using Terms = std::vector<torch::Tensor>;

  /// T_p(S) X at these nodes, where the series for so many columns of Z C costs less than the iteration and
  /// its terms fit into memory; null otherwise, and for an undefined index.
  const Terms* terms_at(const torch::Tensor& index, int64_t columns) const;

  /// Z C at the nodes of T, with Ĉ = Qᵀ C in float64; Z Q where Ĉ is undefined.
  torch::Tensor rows(const Terms& T, const torch::Tensor& C_hat) const;

  /// Z C at all nodes, with Ĉ = Qᵀ C in float64, for few columns: four matrices of as many columns as C
  /// beside X, and neither Z nor T_p(S) X.
  torch::Tensor everywhere(const torch::Tensor& X, const torch::Tensor& C_hat) const;

  /// Gradients for the cotangent Y = D Êᵀ Qᵀ of Z at the nodes of T, with Ê = Ĉ for a cotangent D of Z C; Ê
  /// undefined: the identity, and no gradient of C.
  ProjectedGradients pull(const Terms& T, const torch::Tensor& D, const torch::Tensor& E_hat) const;

 private:
  SparseSeries(std::shared_ptr<const NodeOperator> S, std::shared_ptr<PropagatedFeatures> features,
               const DecomposedContraction& g, ResolventSeries series, torch::Dtype dtype);

  std::shared_ptr<const NodeOperator> S_;
  std::shared_ptr<PropagatedFeatures> features_;
  DecomposedContraction g_;  // in float64
  ResolventSeries series_;
  torch::Dtype dtype_;
};

}  // namespace eignn
