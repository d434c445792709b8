#include "data/sparse_tensor.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>

#include "data/memory_limit.h"
#include "eignn/error.h"

namespace eignn {

torch::Tensor sparse_tensor(const SparseRows& rows, const std::vector<int64_t>& shape) {
  const auto entries = static_cast<int64_t>(rows.column.size());
  auto place = torch::empty({2, entries}, torch::kInt64);
  int64_t *row = place.data_ptr<int64_t>(), *column = row + entries;
  for (int64_t v = 0; v < shape[0]; ++v) std::fill(row + rows.begin[v], row + rows.begin[v + 1], v);
  std::copy(rows.column.begin(), rows.column.end(), column);
  const auto value = torch::tensor(rows.value, torch::kFloat64);
  return torch::sparse_coo_tensor(place, value, shape, value.options().layout(torch::kSparse)).coalesce();
}

MatrixRows::MatrixRows(const torch::Tensor& X) : columns_(X.size(1)) {
  if (!X.is_sparse()) {
    values_ = X.contiguous();
    value_ = values_.data_ptr<double>();
    return;
  }
  indices_ = X.indices().contiguous();
  values_ = X.values().contiguous();
  const int64_t* row = indices_.data_ptr<int64_t>();
  column_ = row + values_.numel();
  value_ = values_.data_ptr<double>();
  begin_.assign(static_cast<size_t>(X.size(0)) + 1, 0);
  for (int64_t k = 0; k < values_.numel(); ++k) ++begin_[static_cast<size_t>(row[k]) + 1];
  for (size_t v = 1; v < begin_.size(); ++v) begin_[v] += begin_[v - 1];
}

std::string MatrixRows::bytes(int64_t row) const {
  std::string out;
  visit(row, [&](int64_t column, double value) {
    out.append(reinterpret_cast<const char*>(&column), sizeof column);
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  });
  return out;
}

torch::Tensor stored_numbers(const torch::Tensor& X) {
  return X.is_sparse() ? X.values() : X;
}

torch::Tensor dense_matrix(const torch::Tensor& X, const std::string& reader) {
  if (!X.is_sparse()) return X;
  const double bytes =
      static_cast<double>(X.size(0)) * static_cast<double>(X.size(1)) * static_cast<double>(X.element_size());
  constexpr double gigabyte = 1e9;
  if (bytes > static_cast<double>(memory_limit()))
    throw ResourceError(
        fmt::format("{} x {} features do not fit into memory as a dense matrix of {:.1f} GB, which {} reads",
                    X.size(0), X.size(1), bytes / gigabyte, reader),
        "features", "eignn with a rank or an encoder reads them as they are");
  return X.to_dense();
}

}  // namespace eignn
