// Sᵀ Z and S Z for node-major Z, on any device.
#pragma once

#include <torch/types.h>

#include <vector>

#include "eignn/propagation.h"
#include "equilibrium/rows_on_gpu.h"

namespace eignn {

/// A sparse matrix by its rows, not necessarily square.
struct SparseEntries {
  int64_t columns = 0;
  std::vector<int64_t> begin = {0}, column;  // row i has the entries begin[i] … begin[i+1]-1
  std::vector<double> value;

  int64_t rows() const { return static_cast<int64_t>(begin.size()) - 1; }
};

/// What of a dense matrix is not zero.
SparseEntries entries_of(const torch::Tensor& matrix);

/// S as this device likes it. `gather(Z)` is Sᵀ Z: row j becomes Σ_i S_ij z_i; `scatter(Z)` is S Z.
class SparseProduct {
 public:
  SparseProduct(const Propagation& S, torch::Dtype dtype, torch::Device device);
  SparseProduct(const SparseEntries& S, torch::Dtype dtype, torch::Device device);
  torch::Tensor gather(const torch::Tensor& Z) const { return multiply(transposed_, Z); }
  torch::Tensor scatter(const torch::Tensor& Z) const { return multiply(straight_, Z); }
  /// Sᵀ Z of the recurrence, S Z of its adjoint.
  torch::Tensor propagate(const torch::Tensor& Z, bool adjoint) const {
    return adjoint ? scatter(Z) : gather(Z);
  }
  /// The matrix of that product for our kernels on a GPU. `begin` is null elsewhere, and where there are more
  /// entries than they count.
  template <class T>
  RowsOnGpu<T> rows_on_gpu(bool adjoint) const {
    return on_gpu<T>(adjoint ? straight_ : transposed_);
  }

  /// Sums of squares by columns.
  struct Squares {
    torch::Tensor r, z;  // float64 on the CPU
  };
  /// One step of a semi-iteration for Z = (Sᵀ Z) diag(a) + X, or with S for Sᵀ in the adjoint, in place:
  ///
  ///     R = X + (Sᵀ Z) a - Z,   last ← last + ω (R + Z - last)
  ///
  /// on the columns from `begin` on: one to most_lines whole cache lines of them (sparse_kernel.h), in
  /// contiguous matrices. An undefined X is 0. Returns the squares of R and Z there.
  Squares advance(bool adjoint, const torch::Tensor& Z, const torch::Tensor& X, const torch::Tensor& a,
                  const torch::Tensor& omega, int64_t begin, torch::Tensor& last) const;

 private:
  struct Rows {
    torch::Tensor begin, column, value;  // CSR, for our loops
    std::vector<int64_t> part;           // on a CPU, rows split so that each part has about as many entries
    torch::Tensor csr;                   // for torch's product elsewhere
  };
  static Rows prepared(const SparseEntries& S, torch::Dtype dtype, torch::Device device);
  static torch::Tensor multiply(const Rows& rows, const torch::Tensor& Z);
  template <class T>
  static RowsOnGpu<T> on_gpu(const Rows& rows);
  Rows straight_, transposed_;
};

/// S as a dense matrix.
torch::Tensor dense(const Propagation& S, torch::Dtype dtype = torch::kFloat64);

}  // namespace eignn
