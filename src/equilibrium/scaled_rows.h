// Arithmetic on rows with exponents (ScaledRows), for signals below the range of a double.
#pragma once

#include <torch/types.h>

#include "eignn/solver.h"
#include "equilibrium/sparse_product.h"

namespace eignn {

/// a + b of equal shape. A row of the sum has the exponent of its larger term; no exponents where neither has
/// any.
ScaledRows sum_of(const ScaledRows& a, const ScaledRows& b);

/// aᵀ b, where row j of the product's terms has the sum of both exponents.
torch::Tensor transposed_product(const ScaledRows& a, const ScaledRows& b);

/// The rows at an index; all of them where it is undefined.
ScaledRows rows_at(const ScaledRows& rows, const torch::Tensor& index);

/// S W, the adjoint of Sᵀ H. `product` is that of S.
ScaledRows scatter_scaled(const Propagation& S, const SparseProduct& product, const ScaledRows& W);

}  // namespace eignn
