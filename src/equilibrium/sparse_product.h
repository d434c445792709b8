// Sᵀ Z and S Z for node-major Z, on any device.
#pragma once

#include <torch/types.h>

#include <memory>
#include <vector>

#include "eignn/propagation.h"
#include "equilibrium/kernel_arguments.h"
#include "equilibrium/node_operator.h"
#include "equilibrium/row_parts.h"
#include "equilibrium/rows_on_gpu.h"

namespace eignn {

/// A sparse matrix by its rows, not necessarily square.
struct SparseEntries {
  int64_t columns = 0;
  std::vector<int64_t> begin = {0}, column;  // row i has the entries begin[i] … begin[i+1]-1
  std::vector<double> value;

  int64_t rows() const { return static_cast<int64_t>(begin.size()) - 1; }
};

/// The non-zero entries of a dense matrix, or those of a sparse one (COO, coalesced).
SparseEntries entries_of(const torch::Tensor& matrix);

/// A sparse matrix in the memory of this process, in the format that its device reads. `apply(Z)`, also
/// called scatter(Z), is S Z; `apply_transposed(Z)`, also called gather(Z), is Sᵀ Z: row j becomes Σ_i S_ij
/// z_i.
class SparseProduct : public NodeOperator {
 public:
  /// Where the values of a matrix without weights are: in an array, which is faster for a few columns, or
  /// formed from the degrees in each product, which takes 4 bytes an entry in all. The results have the same
  /// bits. `automatic`: formed where the array would take more than a gigabyte.
  enum class Values { automatic, stored, formed };

  /// On a CPU the pattern is shared with S, not copied.
  SparseProduct(std::shared_ptr<const Propagation> S, torch::Dtype dtype, torch::Device device,
                Values values = Values::automatic);
  SparseProduct(const Propagation& S, torch::Dtype dtype, torch::Device device);  // with a copy of S
  SparseProduct(const SparseEntries& S, torch::Dtype dtype, torch::Device device);
  torch::Tensor gather(const torch::Tensor& Z) const { return multiply(transposed_, Z); }
  torch::Tensor scatter(const torch::Tensor& Z) const { return multiply(rows_, Z); }

  int64_t rows() const override { return rows_.begin.numel() - 1; }
  int64_t rows_here() const override { return rows(); }
  int64_t entries() const override { return rows_.entries; }
  bool symmetric() const override { return symmetric_; }
  torch::Tensor apply(const torch::Tensor& Z) const override { return scatter(Z); }
  torch::Tensor apply_transposed(const torch::Tensor& Z) const override { return gather(Z); }
  Squares advance(bool adjoint, const torch::Tensor& Z, const torch::Tensor& X, const torch::Tensor& a,
                  const torch::Tensor& omega, int64_t begin, torch::Tensor& last) const override;
  const SparseProduct* in_memory() const override { return this; }

  /// The matrix of propagate() for our GPU kernels. `begin` is null on other devices, and where the entries
  /// are too many for 32-bit indices.
  template <class T>
  RowsOnGpu<T> rows_on_gpu(bool adjoint) const {
    return on_gpu<T>(adjoint ? rows_ : transposed_);
  }

 private:
  struct Rows {
    torch::Tensor begin, column;  // CSR, for our loops
    torch::Tensor value;          // undefined: formed from the factors
    const double *row_factor = nullptr, *column_factor = nullptr, *diagonal = nullptr;
    int64_t entries = 0;
    RowParts parts;     // on a CPU
    torch::Tensor csr;  // on other devices: for libtorch's product
  };
  static Rows prepared(const SparseEntries& S, torch::Dtype dtype, torch::Device device);
  void prepare_on_cpu(torch::Dtype dtype, Values values);
  template <class T>
  static CompressedRows<T> compressed(const Rows& rows);
  static torch::Tensor multiply(const Rows& rows, const torch::Tensor& Z);
  template <class T>
  static RowsOnGpu<T> on_gpu(const Rows& rows);
  Rows rows_, transposed_;
  std::shared_ptr<const Propagation> S_;  // on a CPU: owner of what the rows point to; else null
  bool symmetric_ = false;                // as the Propagation says
};

/// S as a dense matrix.
torch::Tensor dense(const Propagation& S, torch::Dtype dtype = torch::kFloat64);

}  // namespace eignn
