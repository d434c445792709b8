#include "equilibrium/sparse_product.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <limits>

#include "eignn/error.h"
#include "equilibrium/sparse_kernel.h"

namespace eignn {

namespace {

SparseEntries straight(const Propagation& S) {
  SparseEntries csr{S.nodes, S.row_begin, S.column, std::vector<double>(S.column.size())};
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

// The rows in parts of about as many entries each: degrees may be skewed. Their number does not depend on the
// threads, so that sums over the parts do not either.
std::vector<int64_t> equal_parts(const SparseEntries& csr) {
  const int64_t rows = csr.rows(), entries = csr.begin.back();
  constexpr int64_t least_entries = 512, most_parts = 1024;
  const int64_t parts = std::clamp<int64_t>((entries + rows) / least_entries, 1, most_parts);
  std::vector<int64_t> part = {0};
  for (int64_t k = 1; k < parts; ++k) {
    const auto at = std::lower_bound(csr.begin.begin(), csr.begin.end() - 1, entries * k / parts);
    part.push_back(at - csr.begin.begin());
  }
  part.push_back(rows);
  return part;
}

template <class T>
CompressedRows<T> compressed(const torch::Tensor& begin, const torch::Tensor& column,
                             const torch::Tensor& value) {
  return {begin.data_ptr<int64_t>(), column.data_ptr<int32_t>(), value.data_ptr<T>()};
}

// Calls work(part, first row, last row) in parallel, with some 10 µs or more for each thread.
template <class Work>
void for_each_part(const std::vector<int64_t>& part, int64_t columns, const Work& work) {
  const int64_t grain = std::max<int64_t>(1, 32 / std::max<int64_t>(columns, 1));
  at::parallel_for(0, static_cast<int64_t>(part.size()) - 1, grain, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) work(p, part[p], part[p + 1]);
  });
}

}  // namespace

SparseProduct::Rows SparseProduct::prepared(const SparseEntries& S, torch::Dtype dtype,
                                            torch::Device device) {
  if (std::max(S.rows(), S.columns) > std::numeric_limits<int32_t>::max())
    throw InputError(
        fmt::format("{} nodes are more than 2147483647 (sparse products); take a part of the graph",
                    std::max(S.rows(), S.columns)));
  Rows r;
  r.begin = torch::tensor(S.begin, torch::kInt64);
  r.value = torch::tensor(S.value, torch::kFloat64).to(dtype);
  if (device.is_cpu()) {
    r.part = equal_parts(S);
    const int64_t entries = static_cast<int64_t>(S.column.size());
    r.column = torch::zeros({entries + fetch_ahead}, torch::kInt32);
    std::copy(S.column.begin(), S.column.end(), r.column.data_ptr<int32_t>());
  } else {
    const auto row = torch::repeat_interleave(torch::arange(S.rows()), r.begin.diff());
    const auto column = torch::tensor(S.column, torch::kInt64);
    r.coo = torch::sparse_coo_tensor(torch::stack({row, column}), r.value, {S.rows(), S.columns})
                .coalesce()
                .to(device);
  }
  return r;
}

SparseProduct::SparseProduct(const Propagation& S, torch::Dtype dtype, torch::Device device) {
  const SparseEntries entries = straight(S);
  straight_ = prepared(entries, dtype, device);
  transposed_ = S.symmetric ? straight_ : prepared(transposed(entries), dtype, device);
}

SparseProduct::SparseProduct(const SparseEntries& S, torch::Dtype dtype, torch::Device device)
    : straight_(prepared(S, dtype, device)), transposed_(prepared(transposed(S), dtype, device)) {}

torch::Tensor SparseProduct::multiply(const Rows& rows, const torch::Tensor& Z) {
  if (rows.coo.defined()) return torch::mm(rows.coo, Z);
  const auto z = Z.contiguous();
  const int64_t m = z.size(1);
  auto out = torch::empty({rows.begin.numel() - 1, m}, z.options());
  AT_DISPATCH_FLOATING_TYPES(z.scalar_type(), "sparse product", [&] {
    const auto S = compressed<scalar_t>(rows.begin, rows.column, rows.value);
    const scalar_t* from = z.data_ptr<scalar_t>();
    scalar_t* to = out.data_ptr<scalar_t>();
    for_each_part(rows.part, m,
                  [&](int64_t, int64_t first, int64_t last) { multiply_rows(S, from, m, to, first, last); });
  });
  return out;
}

SparseProduct::Squares SparseProduct::advance(bool adjoint, const torch::Tensor& Z, const torch::Tensor& X,
                                              const torch::Tensor& a, const torch::Tensor& omega,
                                              int64_t begin, torch::Tensor& last) const {
  const Rows& rows = adjoint ? straight_ : transposed_;
  const int64_t width = Z.size(1), columns = width - begin;
  const auto active = [&](const torch::Tensor& t) { return t.narrow(-1, begin, columns); };
  if (rows.coo.defined()) {
    const auto z = active(Z), r = active(X) + torch::mm(rows.coo, z.contiguous()) * active(a) - z;
    auto to = active(last);
    to.add_((r + z - to) * active(omega));
    const auto squares = [](const torch::Tensor& t) {
      return t.square().sum(0, /*keepdim=*/false, torch::kFloat64).to(torch::kCPU);
    };
    return {squares(r), squares(z)};
  }
  auto squares = torch::zeros({static_cast<int64_t>(rows.part.size()) - 1, 2, columns}, torch::kFloat64);
  AT_DISPATCH_FLOATING_TYPES(Z.scalar_type(), "semi-iteration", [&] {
    const auto S = compressed<scalar_t>(rows.begin, rows.column, rows.value);
    const SemiIterationStep<scalar_t> step{Z.data_ptr<scalar_t>(),
                                           X.data_ptr<scalar_t>(),
                                           a.data_ptr<scalar_t>(),
                                           omega.data_ptr<scalar_t>(),
                                           last.data_ptr<scalar_t>(),
                                           width,
                                           begin};
    double* sums = squares.data_ptr<double>();
    for_each_part(rows.part, columns, [&](int64_t part, int64_t first, int64_t last_row) {
      double* r2 = sums + part * 2 * columns;
      advance_rows(S, step, first, last_row, r2, r2 + columns);
    });
  });
  const auto total = squares.sum(0);
  return {total[0], total[1]};
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
