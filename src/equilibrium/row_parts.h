// Which rows of a sparse matrix each thread works on.
#pragma once

#include <ATen/Parallel.h>
#include <torch/types.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "equilibrium/kernel_arguments.h"

namespace eignn {

/// Ranges of rows with about equal numbers of entries, since degrees may be skewed. How many there are does
/// not depend on the number of threads, so neither do sums over the parts.
class RowParts {
 public:
  RowParts() = default;
  /// `begin` has the first entry of each row and, after the last, the number of entries.
  RowParts(const int64_t* begin, int64_t rows);

  /// Calls work(part, first row, last row) in parallel, with some 10 µs or more for each thread.
  template <class Work>
  void for_each(int64_t columns, const Work& work) const {
    const int64_t grain = std::max<int64_t>(1, 32 / std::max<int64_t>(columns, 1));
    at::parallel_for(0, count(), grain, [&](int64_t from, int64_t to) {
      for (auto p = static_cast<size_t>(from); p < static_cast<size_t>(to); ++p)
        work(static_cast<int64_t>(p), first_[p], first_[p + 1]);
    });
  }

  /// NodeOperator::advance() on these rows of S: the squares of R and of Z in the columns from `begin` on,
  /// (2, columns). Z has the rows that the columns of S name; all matrices are as wide as `last`.
  template <class T>
  torch::Tensor advance(const CompressedRows<T>& S, const torch::Tensor& Z, const torch::Tensor& X,
                        const torch::Tensor& a, const torch::Tensor& omega, int64_t begin,
                        torch::Tensor& last) const;

 private:
  int64_t count() const { return static_cast<int64_t>(first_.size()) - 1; }

  std::vector<int64_t> first_ = {0};
};

/// Whether the values of a matrix without weights are formed from the degrees in each product, which saves
/// memory: where an array of them would take more than a gibibyte. The array is faster for a few columns.
bool too_many_to_store(int64_t values, torch::Dtype dtype);

}  // namespace eignn
