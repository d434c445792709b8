// The spectral coordinates of a symmetric S that have a non-negligible eigenvalue, or some of them.
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
  /// Q_r as given: eigenvalues (r,) and orthonormal columns (n, r).
  RangeOfS(torch::Tensor eigenvalues, torch::Tensor Q);

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
  void set_ones();
  torch::Tensor rows_of_Q(const torch::Tensor& index) const;

  std::unique_ptr<const Spectrum> spectrum_;           // null where the graph is one component
  torch::Tensor order_;                                // (r,): places in the spectrum
  torch::Tensor Q_;                                    // (n, r); undefined for a graph of several components
  mutable NodeSetCache<torch::Tensor> rows_cache_{4};  // train, validation, test and one to spare
};

/// X as a solver in these coordinates uses it.
struct FeaturesInRange {
  torch::Tensor X, X_hat;  // (n, m), (r, m)
  // With x⊥ a feature's part outside the range of S, and 1⊥ that of the vector 1: ‖x⊥‖² and ⟨1⊥, x⊥⟩ of each
  // feature.
  torch::Tensor rest_squares, rest_sums;

  FeaturesInRange(const RangeOfS& range, const torch::Tensor& X);
  /// The rows of X at these nodes; an undefined index stands for all nodes.
  torch::Tensor rows(const torch::Tensor& index) const {
    return index.defined() ? X.index_select(0, index) : X;
  }
  /// Mean and variance of Z = X + Q_r (Ẑ - X̂), where `change` is Ẑ - X̂.
  torch::Tensor mean(const RangeOfS& range, const torch::Tensor& change) const;
  Moments moments(const RangeOfS& range, const torch::Tensor& Z_hat, const torch::Tensor& change) const;
};

}  // namespace eignn
