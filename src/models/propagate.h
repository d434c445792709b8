// Sᵀ H as a node of libtorch's graph, and S made ready for it.
#pragma once

#include <torch/types.h>

#include <memory>
#include <vector>

#include "eignn/model.h"
#include "equilibrium/sparse_product.h"

namespace eignn {

using SharedProduct = std::shared_ptr<const SparseProduct>;

/// Sᵀ H, what every node receives: row j is Σ_i S_ij h_i. Its gradient is a product with S.
torch::Tensor propagate(const SharedProduct& S, const torch::Tensor& H);

SharedProduct make_product(const Propagation& S, const torch::TensorOptions& type);
/// Each graph's own S.
std::vector<SharedProduct> make_products(const std::vector<GraphMatrix>& graphs,
                                         const torch::TensorOptions& type);

/// The arcs along which S sends, loops left out.
Graph neighbours(const Propagation& S);

}  // namespace eignn
