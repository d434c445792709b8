#include "equilibrium/row_parts.h"

#include <torch/torch.h>

#include "equilibrium/sparse_kernel.h"

namespace eignn {

RowParts::RowParts(const int64_t* begin, int64_t rows) {
  const int64_t entries = begin[rows];
  constexpr int64_t least_entries = 512, most_parts = 1024;
  const int64_t parts = std::clamp<int64_t>((entries + rows) / least_entries, 1, most_parts);
  for (int64_t k = 1; k < parts; ++k)
    first_.push_back(std::lower_bound(begin, begin + rows, entries * k / parts) - begin);
  first_.push_back(rows);
}

template <class T>
torch::Tensor RowParts::advance(const CompressedRows<T>& S, const torch::Tensor& Z, const torch::Tensor& X,
                                const torch::Tensor& a, const torch::Tensor& omega, int64_t begin,
                                torch::Tensor& last) const {
  const int64_t width = last.size(1), columns = width - begin;
  auto squares = torch::zeros({count(), 2, columns}, torch::kFloat64);
  const SemiIterationStep<T> step{Z.data_ptr<T>(),
                                  X.defined() ? X.data_ptr<T>() : nullptr,
                                  a.data_ptr<T>(),
                                  omega.data_ptr<T>(),
                                  last.data_ptr<T>(),
                                  width,
                                  begin};
  double* sums = squares.data_ptr<double>();
  for_each(columns, [&](int64_t part, int64_t first, int64_t last_row) {
    double* r2 = sums + part * 2 * columns;
    advance_rows(S, step, first, last_row, r2, r2 + columns);
  });
  return squares.sum(0);
}
template torch::Tensor RowParts::advance(const CompressedRows<float>&, const torch::Tensor&,
                                         const torch::Tensor&, const torch::Tensor&, const torch::Tensor&,
                                         int64_t, torch::Tensor&) const;
template torch::Tensor RowParts::advance(const CompressedRows<double>&, const torch::Tensor&,
                                         const torch::Tensor&, const torch::Tensor&, const torch::Tensor&,
                                         int64_t, torch::Tensor&) const;

bool too_many_to_store(int64_t values, torch::Dtype dtype) {
  constexpr double gibibyte = 1 << 30;
  return static_cast<double>(values) * static_cast<double>(c10::elementSize(dtype)) > gibibyte;
}

}  // namespace eignn
