// Sparse features (COO, coalesced) as a model reads them.
#pragma once

#include <torch/types.h>

#include "eignn/propagation.h"

namespace eignn {

/// X in this type and on this device, still coalesced where it is sparse.
torch::Tensor in_type(const torch::Tensor& X, const torch::TensorOptions& type);

/// Sᵀ X as a sparse tensor, of as many entries as nodes hear of.
torch::Tensor gathered_features(const Propagation& S, const torch::Tensor& X);

}  // namespace eignn
