#include "models/sparse_features.h"

#include <torch/torch.h>

#include "equilibrium/sparse_product.h"

namespace eignn {

torch::Tensor in_type(const torch::Tensor& X, const torch::TensorOptions& type) {
  if (!X.is_sparse()) return X.to(type);
  const auto values = X.values().to(type);
  return torch::sparse_coo_tensor(X.indices().to(type.device()), values, X.sizes(),
                                  values.options().layout(torch::kSparse))
      .coalesce();
}

torch::Tensor gathered_features(const Propagation& S, const torch::Tensor& X) {
  const SparseEntries entries = entries_of(X);
  // Row i of X goes to the receivers of node i; the sums are formed by coalescing.
  int64_t count = 0;
  for (int64_t i = 0; i < S.nodes; ++i)
    count += (S.row_begin[i + 1] - S.row_begin[i]) * (entries.begin[i + 1] - entries.begin[i]);
  auto place = torch::empty({2, count}, torch::kInt64);
  auto value = torch::empty({count}, torch::kFloat64);
  int64_t *row = place.data_ptr<int64_t>(), *column = row + count;
  auto* to = value.data_ptr<double>();
  for (int64_t i = 0; i < S.nodes; ++i)
    for (int64_t a = S.row_begin[i]; a < S.row_begin[i + 1]; ++a) {
      const double weight = S.value(i, a);
      for (int64_t e = entries.begin[i]; e < entries.begin[i + 1]; ++e) {
        *row++ = S.column[a];
        *column++ = entries.column[e];
        *to++ = weight * entries.value[e];
      }
    }
  const auto sums = torch::sparse_coo_tensor(place, value, X.sizes(), value.options().layout(torch::kSparse));
  return in_type(sums.coalesce(), X.values().options());
}

}  // namespace eignn
