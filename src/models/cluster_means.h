// Features of clusters of nodes.
#pragma once

#include <torch/types.h>

namespace eignn {

/// The mean row of X (n, m) over each cluster, (clusters, m), differentiable; sparse (COO) where X is.
/// `cluster_of` is int64 (n,), `sizes` the number of nodes of each cluster, (clusters,).
torch::Tensor cluster_means(const torch::Tensor& X, const torch::Tensor& cluster_of,
                            const torch::Tensor& sizes);

}  // namespace eignn
