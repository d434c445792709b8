// S = QΛQᵀ of a symmetric S, one connected component at a time: Q is block-diagonal and never n×n.
#pragma once

#include <torch/types.h>

#include <utility>
#include <vector>

#include "eignn/solver.h"

namespace eignn {

/// The spectral coordinates of node-major matrices: X̂ = Qᵀ X, Z = Q Ẑ. Components that are equal, entry for
/// entry, are decomposed once and multiplied as one batch. O(Σ k³) once, O(Σ k² m) per product.
class Spectrum {
 public:
  Spectrum(const Propagation& S, torch::Dtype dtype, torch::Device device, SpectrumStore* store);

  torch::Tensor lambda;            // (n,) in spectral order
  torch::Tensor one_minus_lambda;  // exactly 0 once per component

  torch::Tensor to_spectral(const torch::Tensor& X) const;
  torch::Tensor to_nodes(const torch::Tensor& Z_hat) const;
  /// The same, touching only the rows of Q that belong to these nodes. Undefined index: all nodes.
  torch::Tensor rows_to_spectral(const torch::Tensor& Y, const torch::Tensor& index) const;
  torch::Tensor rows_to_nodes(const torch::Tensor& Z_hat, const torch::Tensor& index) const;

 private:
  struct Group {  // equal components, consecutive in spectral order
    int64_t begin, count, size;
    torch::Tensor Q;                                     // (size, size)
    torch::Tensor of(const torch::Tensor& rows) const {  // this group's rows, a matrix per component
      return rows.narrow(0, begin, count * size).view({count, size, rows.size(1)});
    }
    torch::Tensor batch(const torch::Tensor& q) const { return q.unsqueeze(0).expand({count, size, size}); }
  };
  bool is_connected() const { return groups_.size() == 1 && groups_[0].count == 1; }
  torch::Tensor rows_of_Q(const torch::Tensor& index) const;  // (rows, n), for a connected graph only

  std::vector<Group> groups_;
  torch::Tensor order_, inverse_;  // node at a spectral place, and back
  mutable std::vector<std::pair<torch::Tensor, torch::Tensor>> rows_cache_;
};

}  // namespace eignn
