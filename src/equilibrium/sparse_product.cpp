#include "equilibrium/sparse_product.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/torch.h>
#include <torch/version.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "eignn/error.h"
#include "equilibrium/sparse_kernel.h"

namespace eignn {

namespace {

SparseEntries straight(const Propagation& S) {
  SparseEntries csr{
      S.nodes, S.row_begin, {S.column.begin(), S.column.end()}, std::vector<double>(S.column.size())};
  for (int64_t i = 0; i < S.nodes; ++i)
    for (int64_t e = S.row_begin[i]; e < S.row_begin[i + 1]; ++e) csr.value[e] = S.value(i, e);
  return csr;
}

SparseEntries transposed(const SparseEntries& csr) {
  SparseEntries out{csr.rows(), std::vector<int64_t>(csr.columns + 1, 0),
                    std::vector<int64_t>(csr.column.size()), std::vector<double>(csr.column.size())};
  for (int64_t c : csr.column) ++out.begin[c + 1];
  for (int64_t i = 0; i < csr.columns; ++i) out.begin[i + 1] += out.begin[i];
  std::vector<int64_t> cursor(out.begin.begin(), out.begin.end() - 1);
  for (int64_t i = 0; i < csr.rows(); ++i)
    for (int64_t e = csr.begin[i]; e < csr.begin[i + 1]; ++e) {
      const int64_t at = cursor[csr.column[e]]++;
      out.column[at] = i;
      out.value[at] = csr.value[e];
    }
  return out;
}

constexpr int64_t rows_worth_a_thread = 512;  // to copy into a block

// A CSR tensor, which cuSPARSE reads directly. From a COO tensor libtorch would convert to CSR for every
// product.
torch::Tensor compressed_rows(const torch::Tensor& begin, const torch::Tensor& column,
                              const torch::Tensor& value, int64_t rows, int64_t columns) {
#if TORCH_VERSION_MAJOR >= 2
  // Suppresses libtorch's warning that the CSR layout is in beta.
  struct IgnoreWarnings : c10::WarningHandler {
    void process(const c10::Warning&) override {}
  };
  static IgnoreWarnings unheard;
  const c10::WarningUtils::WarningHandlerGuard guard(&unheard);
#endif
  return torch::sparse_csr_tensor(begin, column, value, {rows, columns},
                                  value.options().layout(torch::kSparseCsr));
}

}  // namespace

SparseEntries entries_of(const torch::Tensor& matrix) {
  const auto here = matrix.to(torch::kCPU);
  // In row order.
  const auto place = here.is_sparse() ? here.indices() : here.nonzero().t();
  const auto row = place.select(0, 0).contiguous(), column = place.select(0, 1).contiguous();
  const auto begin = row.bincount({}, here.size(0)).cumsum(0);
  const auto value =
      (here.is_sparse() ? here.values() : here.index({row, column})).to(torch::kFloat64).contiguous();
  SparseEntries out{here.size(1), {0}, {}, {}};
  out.begin.insert(out.begin.end(), begin.data_ptr<int64_t>(), begin.data_ptr<int64_t>() + begin.numel());
  out.column.assign(column.data_ptr<int64_t>(), column.data_ptr<int64_t>() + column.numel());
  out.value.assign(value.data_ptr<double>(), value.data_ptr<double>() + value.numel());
  return out;
}

namespace {

void require_32_bits(int64_t nodes) {
  if (nodes > std::numeric_limits<int32_t>::max()) {
    throw ResourceError(fmt::format("{} nodes are more than 2147483647", nodes), "sparse products",
                        "take a part of the graph");
  }
}

// A vector of someone else as a tensor, which is only read.
template <class Number>
torch::Tensor view_of(const std::vector<Number>& values, torch::Dtype type) {
  return torch::from_blob(const_cast<Number*>(values.data()), {static_cast<int64_t>(values.size())}, type);
}

// The pattern of Sᵀ. Calls at(place, row, entry) with where each entry of S goes.
struct Pattern {
  torch::Tensor begin, column;
};
template <class At>
Pattern turned(const Propagation& S, const At& at) {
  Pattern out{torch::zeros({S.nodes + 1}, torch::kInt64), torch::empty({S.entries()}, torch::kInt32)};
  auto* begin = out.begin.data_ptr<int64_t>();
  auto* column = out.column.data_ptr<int32_t>();
  for (const int32_t j : S.column) ++begin[j + 1];
  for (int64_t i = 0; i < S.nodes; ++i) begin[i + 1] += begin[i];
  std::vector<int64_t> cursor(begin, begin + S.nodes);
  for (int64_t i = 0; i < S.nodes; ++i) {
    for (int64_t e = S.row_begin[i]; e < S.row_begin[i + 1]; ++e) {
      const int64_t place = cursor[S.column[e]]++;
      column[place] = static_cast<int32_t>(i);
      at(place, i, e);
    }
  }
  return out;
}

}  // namespace

SparseProduct::Rows SparseProduct::prepared(const SparseEntries& S, torch::Dtype dtype,
                                            torch::Device device) {
  require_32_bits(std::max(S.rows(), S.columns));
  Rows r;
  r.begin = torch::tensor(S.begin, torch::kInt64);
  r.value = torch::tensor(S.value, torch::kFloat64).to(dtype);
  const int64_t entries = r.entries = static_cast<int64_t>(S.column.size());
  if (device.is_cpu()) {
    r.parts = RowParts(S.begin.data(), S.rows());
    r.column = torch::empty({entries}, torch::kInt32);
    std::copy(S.column.begin(), S.column.end(), r.column.data_ptr<int32_t>());
    return r;
  }
  constexpr int64_t ahead = 1024;  // our kernels' indices run past the last entry
  const auto number = entries <= std::numeric_limits<int32_t>::max() - ahead ? torch::kInt32 : torch::kInt64;
  r.begin = r.begin.to(number).to(device);
  r.column = torch::tensor(S.column, torch::kInt64).to(number).to(device);
  r.value = r.value.to(device);
  r.csr = compressed_rows(r.begin, r.column, r.value, S.rows(), S.columns);
  return r;
}

// Nothing here is larger than what is kept: no copy of the pattern, no values in float64 beside those in T.
void SparseProduct::prepare_on_cpu(torch::Dtype dtype, Values values) {
  const Propagation& S = *S_;
  require_32_bits(S.nodes);
  const bool formed =
      S.weight.empty() &&
      (values == Values::formed || (values == Values::automatic && too_many_to_store(S.entries(), dtype)));
  rows_.entries = S.entries();
  rows_.begin = view_of(S.row_begin, torch::kInt64);
  rows_.column = view_of(S.column, torch::kInt32);
  rows_.parts = RowParts(S.row_begin.data(), S.nodes);
  rows_.row_factor = S.left.data();
  rows_.column_factor = S.right.data();
  rows_.diagonal = S.diagonal.empty() ? nullptr : S.diagonal.data();
  if (!formed) rows_.value = torch::empty({S.entries()}, dtype);
  if (!S.symmetric) {
    transposed_ = rows_;
    std::swap(transposed_.row_factor, transposed_.column_factor);
    if (!formed) transposed_.value = torch::empty({S.entries()}, dtype);
  }
  AT_DISPATCH_FLOATING_TYPES(dtype, "sparse values", [&] {
    scalar_t* straight = formed ? nullptr : rows_.value.data_ptr<scalar_t>();
    scalar_t* across = formed || S.symmetric ? nullptr : transposed_.value.data_ptr<scalar_t>();
    if (!formed)
      for (int64_t i = 0; i < S.nodes; ++i) {
        for (int64_t e = S.row_begin[i]; e < S.row_begin[i + 1]; ++e)
          straight[e] = static_cast<scalar_t>(S.value(i, e));
      }
    if (S.symmetric) return;
    const Pattern pattern = turned(S, [&](int64_t place, int64_t, int64_t e) {
      if (across != nullptr) across[place] = straight[e];
    });
    transposed_.begin = pattern.begin;
    transposed_.column = pattern.column;
    transposed_.parts = RowParts(pattern.begin.template data_ptr<int64_t>(), S.nodes);
  });
  if (S.symmetric) transposed_ = rows_;
}

template <class T>
CompressedRows<T> SparseProduct::compressed(const Rows& rows) {
  return {rows.begin.data_ptr<int64_t>(),
          rows.column.data_ptr<int32_t>(),
          rows.value.defined() ? rows.value.data_ptr<T>() : nullptr,
          rows.row_factor,
          rows.column_factor,
          rows.diagonal};
}

template <class T>
RowsOnGpu<T> SparseProduct::on_gpu(const Rows& rows) {
  if (!rows.csr.defined() || rows.begin.scalar_type() != torch::kInt32) return {};
  return {rows.begin.data_ptr<int32_t>(), rows.column.data_ptr<int32_t>(), rows.value.data_ptr<T>(),
          rows.begin.numel() - 1};
}
template RowsOnGpu<float> SparseProduct::on_gpu(const Rows&);
template RowsOnGpu<double> SparseProduct::on_gpu(const Rows&);

SparseProduct::SparseProduct(std::shared_ptr<const Propagation> S, torch::Dtype dtype, torch::Device device,
                             Values values)
    : symmetric_(S->symmetric) {
  if (device.is_cpu()) {
    S_ = std::move(S);
    prepare_on_cpu(dtype, values);
    return;
  }
  const SparseEntries entries = straight(*S);
  rows_ = prepared(entries, dtype, device);
  transposed_ = symmetric_ ? rows_ : prepared(transposed(entries), dtype, device);
}

SparseProduct::SparseProduct(const Propagation& S, torch::Dtype dtype, torch::Device device)
    : SparseProduct(std::make_shared<const Propagation>(S), dtype, device) {}

SparseProduct::SparseProduct(const SparseEntries& S, torch::Dtype dtype, torch::Device device)
    : rows_(prepared(S, dtype, device)), transposed_(prepared(transposed(S), dtype, device)) {}

torch::Tensor SparseProduct::multiply(const Rows& rows, const torch::Tensor& Z) {
  if (rows.csr.defined()) return torch::mm(rows.csr, Z);
  const auto z = Z.contiguous();
  const int64_t m = z.size(1);
  auto out = torch::empty({rows.begin.numel() - 1, m}, z.options());
  AT_DISPATCH_FLOATING_TYPES(z.scalar_type(), "sparse product", [&] {
    const auto S = compressed<scalar_t>(rows);
    const scalar_t* from = z.data_ptr<scalar_t>();
    scalar_t* to = out.data_ptr<scalar_t>();
    const auto add_up = [&](StridedRows<const scalar_t> rows_of_z, int64_t columns, scalar_t* at) {
      rows.parts.for_each(columns, [&](int64_t, int64_t first, int64_t last) {
        multiply_rows(S, rows_of_z, columns, StridedRows<scalar_t>{at, m}, first, last);
      });
    };
    // Each row of a wide Z is on a page of its own. Where rows are gathered often enough, a block of columns
    // is therefore copied first, onto few pages and in whole cache lines.
    constexpr int64_t line = cache_line / static_cast<int64_t>(sizeof(scalar_t)), block = most_lines * line;
    constexpr int64_t wide = 4 * block, often = 4;
    if (m < wide || rows.entries < often * z.size(0)) return add_up({from, m}, m, to);
    auto together = torch::empty({z.size(0), block}, z.options());
    scalar_t* packed = together.data_ptr<scalar_t>();
    for (int64_t next = 0; next < m; next += block) {
      // The last block begins earlier, so that it has whole lines too.
      const int64_t columns = std::min(block, (m - next + line - 1) / line * line),
                    c = std::min(next, m - columns);
      at::parallel_for(0, z.size(0), rows_worth_a_thread, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) std::copy_n(from + i * m + c, columns, packed + i * block);
      });
      add_up({packed, block}, columns, to + c);
    }
  });
  return out;
}

NodeOperator::Squares SparseProduct::advance(bool adjoint, const torch::Tensor& Z, const torch::Tensor& X,
                                             const torch::Tensor& a, const torch::Tensor& omega,
                                             int64_t begin, torch::Tensor& last) const {
  const Rows& rows = adjoint ? rows_ : transposed_;
  if (rows.csr.defined()) return NodeOperator::advance(adjoint, Z, X, a, omega, begin, last);
  torch::Tensor squares;
  AT_DISPATCH_FLOATING_TYPES(Z.scalar_type(), "semi-iteration", [&] {
    squares = rows.parts.advance(compressed<scalar_t>(rows), Z, X, a, omega, begin, last);
  });
  return {squares[0], squares[1]};
}

torch::Tensor dense(const Propagation& S, torch::Dtype dtype) {
  auto matrix = torch::zeros({S.nodes, S.nodes}, dtype);
  AT_DISPATCH_FLOATING_TYPES(dtype, "dense", [&] {
    auto at = matrix.accessor<scalar_t, 2>();
    for (int64_t i = 0; i < S.nodes; ++i)
      for (int64_t e = S.row_begin[i]; e < S.row_begin[i + 1]; ++e)
        at[i][S.column[e]] = static_cast<scalar_t>(S.value(i, e));
  });
  return matrix;
}

}  // namespace eignn
