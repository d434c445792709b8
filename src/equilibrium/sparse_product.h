// Sᵀ Z and S Z for node-major Z, on any device.
#pragma once

#include <torch/types.h>

#include <vector>

#include "eignn/propagation.h"

namespace eignn {

/// S as this device likes it. `gather(Z)` is Sᵀ Z: row j becomes Σ_i S_ij z_i; `scatter(Z)` is S Z.
class SparseProduct {
 public:
  SparseProduct(const Propagation& S, torch::Dtype dtype, torch::Device device);
  torch::Tensor gather(const torch::Tensor& Z) const { return multiply(transposed_, Z); }
  torch::Tensor scatter(const torch::Tensor& Z) const { return multiply(straight_, Z); }

 private:
  struct Rows {
    torch::Tensor begin, column, value;  // CSR, for our loop on the CPU
    torch::Tensor coo;                   // for torch's product elsewhere
  };
  static torch::Tensor multiply(const Rows& rows, const torch::Tensor& Z);
  Rows straight_, transposed_;
};

/// S as a dense matrix.
torch::Tensor dense(const Propagation& S, torch::Dtype dtype = torch::kFloat64);

}  // namespace eignn
