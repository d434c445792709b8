// S = QΛQᵀ of a symmetric S, decomposed by connected components: Q is block-diagonal and never formed as n×n.
#pragma once

#include <torch/types.h>

#include <vector>

#include "eignn/solver.h"
#include "equilibrium/node_set_cache.h"

namespace eignn {

/// The spectral coordinates of node-major matrices: X̂ = Qᵀ X, Z = Q Ẑ. Components that are equal, entry for
/// entry, are decomposed once and multiplied as one batch. O(Σ k³) once, O(Σ k² m) per product.
class Spectrum {
 public:
  Spectrum(const Propagation& S, torch::Dtype dtype, torch::Device device, SpectrumStore* store);
  Spectrum(const Spectrum&) = delete;
  Spectrum& operator=(const Spectrum&) = delete;

  torch::Tensor lambda;            // (n,) in spectral order
  torch::Tensor one_minus_lambda;  // exactly 0 once per component without slack

  torch::Tensor to_spectral(const torch::Tensor& X) const;
  torch::Tensor to_nodes(const torch::Tensor& Z_hat) const;
  torch::Tensor ones() const;  // Qᵀ 1, (n, 1)
  /// The columns of Q at these spectral places, a row per node, where the graph is one component; undefined
  /// otherwise.
  torch::Tensor one_basis(const torch::Tensor& places) const;
  /// Qᵀ Y for a Y that has rows at these nodes and is 0 elsewhere, and the rows of Q Ẑ at these nodes; only
  /// these rows of Q are read where that pays. An undefined index stands for all nodes.
  torch::Tensor rows_to_spectral(const torch::Tensor& Y, const torch::Tensor& index) const;
  torch::Tensor rows_to_nodes(const torch::Tensor& Z_hat, const torch::Tensor& index) const;

 private:
  struct Group {  // equal components, consecutive in spectral order
    int64_t begin, count, size;
    torch::Tensor Q;  // (size, size), column-major

    torch::Tensor rows_of(const torch::Tensor& all) const { return all.narrow(0, begin, count * size); }
    /// Writes Qᵀ X and Q Ẑ of this group's rows to `to`.
    void to_spectral(const torch::Tensor& X, torch::Tensor to) const { multiply(Q.t(), X, to); }
    void to_nodes(const torch::Tensor& Z_hat, torch::Tensor to) const { multiply(Q, Z_hat, to); }

   private:
    void multiply(const torch::Tensor& q, const torch::Tensor& from, torch::Tensor& to) const;
  };

  /// The part of an index that falls into one group.
  struct Part {
    const Group* group;
    torch::Tensor at;    // its places in the index; undefined: all of them
    torch::Tensor rows;  // their places among the group's rows
    torch::Tensor Q;     // a copy of those rows of Q where they are few; undefined otherwise
  };
  const std::vector<Part>& parts_of(const torch::Tensor& index) const;

  std::vector<Group> groups_;
  torch::Tensor order_, inverse_;                           // the node at a spectral place, and its inverse
  mutable NodeSetCache<std::vector<Part>> parts_cache_{4};  // train, validation, test and one to spare
};

/// All eigenpairs of one connected component, λ = 1 exact where it has no slack.
EigenBlock eigenbasis_of(const Propagation& component, torch::Dtype dtype, torch::Device device);
/// A component whose rows all have slack 0 has the eigenvalue 1 exactly, with the eigenvector D^½ 1: float64
/// (n,), of length one. Undefined for other components.
torch::Tensor exact_leading_vector(const Propagation& component);

/// Mean and variance of Z = Q Ẑ over all nodes, computed in spectral coordinates: with o = Qᵀ 1 the column
/// sums of Z are oᵀ Ẑ, and Ẑ - o meanᵀ has the column norms of the centred Z.
Moments spectral_moments(const torch::Tensor& ones, const torch::Tensor& Z_hat);

/// Ŷ ← Ŷ + Qᵀ ∂L/∂Z for an L that depends on Z through its moments over n nodes; `cotangent` has the
/// derivatives of L with respect to them. The coordinates may be those of some columns of Q only.
void add_moments_cotangent_(torch::Tensor& Y_hat, const torch::Tensor& ones, const torch::Tensor& Z_hat,
                            const torch::Tensor& mean, int64_t n, const Moments& cotangent);

}  // namespace eignn
