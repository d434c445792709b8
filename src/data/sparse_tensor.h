// Features as a sparse tensor: COO and coalesced, on the CPU.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "data/sparse_rows.h"

namespace eignn {

/// float64.
torch::Tensor sparse_tensor(const SparseRows& rows, const std::vector<int64_t>& shape);

/// The entries of a sparse matrix, all numbers of a dense one.
torch::Tensor stored_numbers(const torch::Tensor& X);

/// The rows of a float64 matrix on the CPU, dense or sparse.
class MatrixRows {
 public:
  explicit MatrixRows(const torch::Tensor& X);

  /// Calls visit(column, value) for each entry of a row that is not zero, columns ascending.
  template <class Visit>
  void visit(int64_t row, Visit visit) const {
    const auto r = static_cast<size_t>(row);
    const int64_t begin = begin_.empty() ? row * columns_ : begin_[r],
                  end = begin_.empty() ? begin + columns_ : begin_[r + 1];
    for (int64_t k = begin; k < end; ++k)
      if (value_[k] != 0) visit(begin_.empty() ? k - begin : column_[k], value_[k]);
  }
  /// Equal for equal rows, and for no others.
  std::string bytes(int64_t row) const;

 private:
  torch::Tensor indices_, values_;  // what the pointers point to
  int64_t columns_;
  std::vector<int64_t> begin_;  // empty: dense
  const int64_t* column_ = nullptr;
  const double* value_;
};

/// The matrix as a dense one, for those that read no other. ResourceError where it does not fit into memory;
/// `reader` says who asks: "gcn", "an attack".
torch::Tensor dense_matrix(const torch::Tensor& X, const std::string& reader);

}  // namespace eignn
