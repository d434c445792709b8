// Batch norm over a batch of graphs that are in several processes.
#pragma once

#include <torch/nn/modules/batchnorm.h>
#include <torch/types.h>

#include "eignn/model.h"
#include "eignn/solver.h"

namespace eignn {

/// What all processes bring, added up; differentiable: where each has ∂L/∂sum of its own part of L, the
/// gradient of what it brought is their sum. Collective, forwards and backwards.
torch::Tensor summed(const torch::Tensor& here, const SumOverProcesses& sum);

/// The moments of all nodes of a batch by those of its graphs here: means and variances (graphs, width), and
/// the graphs' nodes (graphs,), float64. Without `sum` the graphs here are all. `total` becomes the number of
/// nodes.
Moments moments_of_graphs(const torch::Tensor& means, const torch::Tensor& variances,
                          const torch::Tensor& nodes, const SumOverProcesses& sum, double& total);

/// Updates the running moments as libtorch's batch norm does, with the unbiased variance.
void update_running_moments(torch::nn::BatchNorm1d& norm, const Moments& moments, double rows);

/// norm(x) in training mode, for the rows of all processes.
torch::Tensor shared_batch_norm(torch::nn::BatchNorm1d& norm, const torch::Tensor& x,
                                const SumOverProcesses& sum);

}  // namespace eignn
