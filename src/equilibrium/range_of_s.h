// The spectral coordinates of a symmetric S that have a non-negligible eigenvalue.
#pragma once

#include <torch/types.h>

#include <memory>

#include "equilibrium/spectral/spectrum.h"

namespace eignn {

/// Q_r, the eigenvectors of S whose |λ| exceeds `negligible`, by falling |λ|. Graphs in which many nodes have
/// the same few neighbours have far fewer of these than nodes.
class RangeOfS {
 public:
  RangeOfS(const Propagation& S, const SolverOptions& options, double negligible);

  int64_t nodes = 0;
  torch::Tensor lambda;        // (r,)
  torch::Tensor ones;          // Q_rᵀ 1, (r, 1)
  torch::Tensor rest_of_ones;  // 1 - Q_r Q_rᵀ 1, (n, 1)

  /// Q_rᵀ Y for a Y that has rows at these nodes and is 0 elsewhere, and the rows of Q_r Ẑ at these nodes. An
  /// undefined index stands for all nodes.
  torch::Tensor to_spectral(const torch::Tensor& Y, const torch::Tensor& index) const;
  torch::Tensor to_nodes(const torch::Tensor& Z_hat, const torch::Tensor& index) const;
  /// X - Q_r X̂; exactly zero where Q_r is all of Q.
  torch::Tensor rest_of(const torch::Tensor& X, const torch::Tensor& X_hat) const;

 private:
  torch::Tensor rows_of_Q(const torch::Tensor& index) const;

  std::unique_ptr<const Spectrum> spectrum_;           // null where the graph is one component
  torch::Tensor order_;                                // (r,): places in the spectrum
  torch::Tensor Q_;                                    // (n, r); undefined for a graph of several components
  mutable NodeSetCache<torch::Tensor> rows_cache_{4};  // train, validation, test and one to spare
};

}  // namespace eignn
