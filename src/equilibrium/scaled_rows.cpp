#include "equilibrium/scaled_rows.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace eignn {

namespace {

// S W for rows with exponents. A row of the result has the exponent of its largest term, so that a signal
// below the range of a double keeps its digits.
ScaledRows product_of_scaled(const Propagation& S, const ScaledRows& W) {
  const auto values = W.values.to(torch::kCPU, torch::kFloat64).contiguous();
  const auto exponents = W.exponents.to(torch::kCPU).contiguous();
  const int64_t m = values.size(1), *e = exponents.data_ptr<int64_t>();
  const double* w = values.data_ptr<double>();
  constexpr int64_t none = std::numeric_limits<int64_t>::min();
  std::vector<int64_t> size(static_cast<size_t>(S.nodes), none);  // the exponent of a row's largest number
  for (int64_t j = 0; j < S.nodes; ++j) {
    double top = 0;
    for (int64_t c = 0; c < m; ++c) top = std::max(top, std::abs(w[j * m + c]));
    if (top > 0) size[j] = e[j] + std::ilogb(top);
  }
  auto out = torch::zeros_like(values);
  auto out_exponents = torch::zeros({S.nodes}, torch::kInt64);
  for (int64_t i = 0; i < S.nodes; ++i) {
    int64_t top = none;
    for (int64_t a = S.row_begin[i]; a < S.row_begin[i + 1]; ++a) top = std::max(top, size[S.column[a]]);
    if (top == none) continue;
    out_exponents.data_ptr<int64_t>()[i] = top;
    double* row = out.data_ptr<double>() + i * m;
    for (int64_t a = S.row_begin[i]; a < S.row_begin[i + 1]; ++a) {
      const int64_t j = S.column[a];
      constexpr int64_t lost = -2000;  // below any digit of the largest term
      if (size[j] == none || size[j] - top < lost) continue;
      const double scale = std::ldexp(S.value(i, a), static_cast<int>(e[j] - top));
      for (int64_t c = 0; c < m; ++c) row[c] += scale * w[j * m + c];
    }
  }
  return {out.to(W.values.options()), out_exponents.to(W.exponents.device())};
}

// The exponents of rows that are not zero, far below any other where a row is.
torch::Tensor exponents_of(const ScaledRows& rows) {
  constexpr int64_t nothing = std::numeric_limits<int64_t>::min() / 4;
  const auto zero = rows.values.eq(0).all(1);
  const auto exponents = rows.exponents.defined() ? rows.exponents : zero.to(torch::kInt64).zero_();
  return exponents.masked_fill(zero, nothing);
}

}  // namespace

ScaledRows sum_of(const ScaledRows& a, const ScaledRows& b) {
  if (!a.exponents.defined() && !b.exponents.defined()) return {a.values + b.values, {}};
  const auto of_a = exponents_of(a), of_b = exponents_of(b);
  const auto top = torch::maximum(of_a, of_b);
  return {ScaledRows{a.values, of_a - top}.plain() + ScaledRows{b.values, of_b - top}.plain(),
          top.masked_fill(top.lt(std::numeric_limits<int64_t>::min() / 8), 0)};
}

torch::Tensor transposed_product(const ScaledRows& a, const ScaledRows& b) {
  if (!a.exponents.defined() && !b.exponents.defined()) return a.values.t().mm(b.values);
  const auto exponents = !a.exponents.defined()   ? b.exponents
                         : !b.exponents.defined() ? a.exponents
                                                  : a.exponents + b.exponents;
  return ScaledRows{a.values, exponents}.plain().t().mm(b.values);
}

ScaledRows rows_at(const ScaledRows& rows, const torch::Tensor& index) {
  if (!index.defined()) return rows;
  return {rows.values.index_select(0, index),
          rows.exponents.defined() ? rows.exponents.index_select(0, index) : torch::Tensor()};
}

ScaledRows scatter_scaled(const Propagation& S, const SparseProduct& product, const ScaledRows& W) {
  if (W.exponents.defined()) return product_of_scaled(S, W);
  return {product.scatter(W.values), {}};
}

}  // namespace eignn
