// Sparse features (COO, coalesced) as a model reads them.
#pragma once

#include <torch/types.h>

#include <memory>
#include <vector>

#include "equilibrium/feature_product.h"

namespace eignn {

/// X Wᵀ + b for dense or sparse features, differentiable in W and b, and in a dense X. What is prepared of a
/// sparse X is kept for the next call.
class FeatureLayer {
 public:
  torch::Tensor operator()(const torch::Tensor& X, const torch::Tensor& W, const torch::Tensor& b) const;

 private:
  struct Known {
    torch::Tensor X;
    std::shared_ptr<const FeatureProduct> product;
  };
  mutable std::vector<Known> known_;  // of the graphs
};

/// X in this type and on this device, still coalesced where it is sparse.
torch::Tensor in_type(const torch::Tensor& X, const torch::TensorOptions& type);

/// Sᵀ X as a sparse tensor, of as many entries as nodes hear of.
torch::Tensor gathered_features(const Propagation& S, const torch::Tensor& X);

}  // namespace eignn
