#include "equilibrium/sparse_product.h"

#include <ATen/Parallel.h>
#include <torch/torch.h>

namespace eignn {

namespace {

struct Csr {
  std::vector<int64_t> begin, column;
  std::vector<double> value;
};

Csr straight(const Propagation& S) {
  Csr csr{S.row_begin, S.column, std::vector<double>(S.column.size())};
  for (int64_t i = 0; i < S.nodes; ++i)
    for (int64_t e = S.row_begin[i]; e < S.row_begin[i + 1]; ++e) csr.value[e] = S.value(i, e);
  return csr;
}

Csr transposed(const Csr& csr, int64_t nodes) {
  Csr out{std::vector<int64_t>(nodes + 1, 0), std::vector<int64_t>(csr.column.size()),
          std::vector<double>(csr.column.size())};
  for (int64_t c : csr.column) ++out.begin[c + 1];
  for (int64_t i = 0; i < nodes; ++i) out.begin[i + 1] += out.begin[i];
  std::vector<int64_t> cursor(out.begin.begin(), out.begin.end() - 1);
  for (int64_t i = 0; i < nodes; ++i)
    for (int64_t e = csr.begin[i]; e < csr.begin[i + 1]; ++e) {
      const int64_t at = cursor[csr.column[e]]++;
      out.column[at] = i;
      out.value[at] = csr.value[e];
    }
  return out;
}

torch::Tensor tensor_of(const std::vector<int64_t>& v) {
  return torch::tensor(v, torch::kInt64);
}

// out_i = Σ_e value_e z_column(e); reads each row of Z once per entry, writes each row of out once.
template <class T>
void multiply_rows(const int64_t* begin, const int64_t* column, const T* value, const T* Z, int64_t m, T* out,
                   int64_t first, int64_t last) {
  for (int64_t i = first; i < last; ++i) {
    T* row = out + i * m;
    std::fill(row, row + m, T(0));
    for (int64_t e = begin[i]; e < begin[i + 1]; ++e) {
      const T s = value[e];
      const T* z = Z + column[e] * m;
      for (int64_t k = 0; k < m; ++k) row[k] += s * z[k];
    }
  }
}

}  // namespace

SparseProduct::SparseProduct(const Propagation& S, torch::Dtype dtype, torch::Device device) {
  const Csr rows = straight(S);
  auto prepare = [&](const Csr& csr) {
    Rows r{
        tensor_of(csr.begin), tensor_of(csr.column), torch::tensor(csr.value, torch::kFloat64).to(dtype), {}};
    if (!device.is_cpu()) {
      const auto row = torch::repeat_interleave(torch::arange(S.nodes), r.begin.diff());
      r.coo = torch::sparse_coo_tensor(torch::stack({row, r.column}), r.value, {S.nodes, S.nodes})
                  .coalesce()
                  .to(device);
    }
    return r;
  };
  straight_ = prepare(rows);
  transposed_ = S.symmetric ? straight_ : prepare(transposed(rows, S.nodes));
}

torch::Tensor SparseProduct::multiply(const Rows& rows, const torch::Tensor& Z) {
  if (rows.coo.defined()) return torch::mm(rows.coo, Z);
  const auto z = Z.contiguous();
  auto out = torch::empty_like(z);
  const int64_t n = z.size(0), m = z.size(1), grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(m, 1));
  AT_DISPATCH_FLOATING_TYPES(z.scalar_type(), "sparse product", [&] {
    const int64_t *begin = rows.begin.data_ptr<int64_t>(), *column = rows.column.data_ptr<int64_t>();
    const scalar_t *value = rows.value.data_ptr<scalar_t>(), *from = z.data_ptr<scalar_t>();
    scalar_t* to = out.data_ptr<scalar_t>();
    at::parallel_for(0, n, grain, [&](int64_t first, int64_t last) {
      multiply_rows(begin, column, value, from, m, to, first, last);
    });
  });
  return out;
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
