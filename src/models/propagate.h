// Sᵀ H as an autograd function, and the preparation of S for it.
#pragma once

#include <torch/types.h>

#include <memory>
#include <vector>

#include "eignn/model.h"
#include "equilibrium/sparse_product.h"

namespace eignn {

using SharedProduct = std::shared_ptr<const SparseProduct>;

/// Sᵀ H: row j is Σ_i S_ij h_i, what node j receives. Its backward pass is a product with S.
torch::Tensor propagate(const SharedProduct& S, const torch::Tensor& H);

SharedProduct make_product(std::shared_ptr<const Propagation> S, const torch::TensorOptions& type);
SharedProduct make_product(const Propagation& S, const torch::TensorOptions& type);
/// One for the S of each graph.
std::vector<SharedProduct> make_products(const std::vector<GraphMatrix>& graphs,
                                         const torch::TensorOptions& type);

/// The arcs i → j with an entry S_ij, without loops.
Graph neighbours(const Propagation& S);

}  // namespace eignn
