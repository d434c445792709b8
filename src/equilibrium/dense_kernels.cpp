#include "equilibrium/dense_kernels.h"

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <algorithm>
#include <limits>
#include <vector>

extern "C" {
void ssyrk_(const char* uplo, const char* trans, const int* n, const int* k, const float* alpha,
            const float* a, const int* lda, const float* beta, float* c, const int* ldc, size_t, size_t);
void dsyrk_(const char* uplo, const char* trans, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* beta, double* c, const int* ldc, size_t, size_t);
void ssyr2k_(const char* uplo, const char* trans, const int* n, const int* k, const float* alpha,
             const float* a, const int* lda, const float* b, const int* ldb, const float* beta, float* c,
             const int* ldc, size_t, size_t);
void dsyr2k_(const char* uplo, const char* trans, const int* n, const int* k, const double* alpha,
             const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
             const int* ldc, size_t, size_t);
void ssymm_(const char* side, const char* uplo, const int* m, const int* n, const float* alpha,
            const float* a, const int* lda, const float* b, const int* ldb, const float* beta, float* c,
            const int* ldc, size_t, size_t);
void dsymm_(const char* side, const char* uplo, const int* m, const int* n, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
            const int* ldc, size_t, size_t);
}

namespace eignn {

namespace {

constexpr int64_t tile = 32;  // two tiles of doubles fit into the L1 cache

// The least number of rows of m numbers for which another thread pays. Waking a thread costs more than fewer
// rows do, and libgomp's threads spin afterwards on cores that OpenBLAS's own threads may need.
int64_t rows_worth_a_thread(int64_t m) {
  constexpr int64_t numbers = 1 << 17;
  return std::max<int64_t>(1, numbers / std::max<int64_t>(m, 1));
}

// Calls visit(i) for i < n in parallel. Row i is paired with row n-1-i, because the rows of a triangle differ
// in length.
template <class Visit>
void for_rows_of_triangle(int64_t n, int64_t worth_a_thread, Visit visit) {
  at::parallel_for(0, (n + 1) / 2, (worth_a_thread + 1) / 2, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      visit(i);
      if (n - 1 - i != i) visit(n - 1 - i);
    }
  });
}

// Calls visit(i0, i1, j0, j1) for the tiles on and above the diagonal.
template <class Visit>
void for_upper_tiles(int64_t n, Visit visit) {
  for_rows_of_triangle((n + tile - 1) / tile, (rows_worth_a_thread(n) + tile - 1) / tile, [&](int64_t row) {
    const int64_t i0 = row * tile;
    for (int64_t j0 = i0; j0 < n; j0 += tile) visit(i0, std::min(n, i0 + tile), j0, std::min(n, j0 + tile));
  });
}

template <class T>
void copy_upper_to_lower(T* a, int64_t n) {
  for_upper_tiles(n, [&](int64_t i0, int64_t i1, int64_t j0, int64_t j1) {
    for (int64_t i = i0; i < i1; ++i)
      for (int64_t j = std::max(j0, i + 1); j < j1; ++j) a[j * n + i] = a[i * n + j];
  });
}

template <class T>
void add_lower_to_upper(T* a, int64_t n) {
  for_upper_tiles(n, [&](int64_t i0, int64_t i1, int64_t j0, int64_t j1) {
    for (int64_t i = i0; i < i1; ++i)
      for (int64_t j = std::max(j0, i); j < j1; ++j) a[i * n + j] += a[j * n + i];
  });
}

// The lower triangle of a aᵀ; all matrices are column-major.
void lower_of_product(int n, const float* a, float* c) {
  const float one = 1, zero = 0;
  const int stride = std::max(n, 1);
  ssyrk_("L", "N", &n, &n, &one, a, &stride, &zero, c, &stride, 1, 1);
}
void lower_of_product(int n, const double* a, double* c) {
  const double one = 1, zero = 0;
  const int stride = std::max(n, 1);
  dsyrk_("L", "N", &n, &n, &one, a, &stride, &zero, c, &stride, 1, 1);
}

// The lower triangle of a bᵀ + b aᵀ, column-major; a and b are n×k.
void lower_of_product(int n, int k, const float* a, const float* b, float* c) {
  const float one = 1, zero = 0;
  const int stride = std::max(n, 1);
  ssyr2k_("L", "N", &n, &k, &one, a, &stride, b, &stride, &zero, c, &stride, 1, 1);
}
void lower_of_product(int n, int k, const double* a, const double* b, double* c) {
  const double one = 1, zero = 0;
  const int stride = std::max(n, 1);
  dsyr2k_("L", "N", &n, &k, &one, a, &stride, b, &stride, &zero, c, &stride, 1, 1);
}

// factor · a b, column-major, reading the lower triangle of the symmetric a; b is n×columns.
void multiply_lower(int n, int columns, float factor, const float* a, const float* b, float* c) {
  const float zero = 0;
  const int stride = std::max(n, 1);
  ssymm_("L", "L", &n, &columns, &factor, a, &stride, b, &stride, &zero, c, &stride, 1, 1);
}
void multiply_lower(int n, int columns, double factor, const double* a, const double* b, double* c) {
  const double zero = 0;
  const int stride = std::max(n, 1);
  dsymm_("L", "L", &n, &columns, &factor, a, &stride, b, &stride, &zero, c, &stride, 1, 1);
}

// Σ a_k b_k in 16 partial sums, which the compiler vectorises; the order of summation is fixed.
template <class T>
T dot(const T* a, const T* b, int64_t n) {
  constexpr int lanes = 16;
  T sums[lanes] = {};
  int64_t k = 0;
  for (; k + lanes <= n; k += lanes)
    for (int l = 0; l < lanes; ++l) sums[l] += a[k + l] * b[k + l];
  T sum = 0;
  for (; k < n; ++k) sum += a[k] * b[k];
  for (T lane : sums) sum += lane;
  return sum;
}

}  // namespace

torch::Tensor gram_of(const torch::Tensor& F) {
  const int64_t m = F.size(1);
  if (!F.is_cpu() || F.size(0) != m || m > std::numeric_limits<int>::max()) return F.t().mm(F);
  const auto f = F.contiguous();
  auto gram = torch::empty({m, m}, f.options());
  // In Fortran's column-major order f is Fᵀ, so the product is f fᵀ and its lower triangle is our upper one.
  const int n = static_cast<int>(m);
  AT_DISPATCH_FLOATING_TYPES(f.scalar_type(), "Gram matrix", [&] {
    const scalar_t* a = f.data_ptr<scalar_t>();
    scalar_t* c = gram.data_ptr<scalar_t>();
    lower_of_product(n, a, c);
    copy_upper_to_lower(c, m);
  });
  return gram;
}

torch::Tensor row_dots(const torch::Tensor& a, const torch::Tensor& b) {
  if (!a.is_cpu()) return a.unsqueeze(1).bmm(b.unsqueeze(2)).squeeze(2);
  const int64_t n = a.size(0), m = a.size(1);
  auto out = torch::empty({n, 1}, a.options());
  const auto a_rows = a.contiguous(), b_rows = b.contiguous();
  AT_DISPATCH_FLOATING_TYPES(a.scalar_type(), "row dots", [&] {
    const scalar_t *x = a_rows.data_ptr<scalar_t>(), *y = b_rows.data_ptr<scalar_t>();
    scalar_t* to = out.data_ptr<scalar_t>();
    at::parallel_for(0, n, rows_worth_a_thread(m), [&](int64_t first, int64_t last) {
      for (int64_t j = first; j < last; ++j) to[j] = dot(x + j * m, y + j * m, m);
    });
  });
  return out;
}

// Row-major, the upper triangle is stored; to BLAS, which is column-major, it is the lower one.
Symmetric Symmetric::sum_of(const torch::Tensor& R) {
  auto A = R.contiguous();
  AT_DISPATCH_FLOATING_TYPES(A.scalar_type(), "symmetric sum",
                             [&] { add_lower_to_upper(A.data_ptr<scalar_t>(), A.size(0)); });
  return Symmetric(A);
}

Symmetric Symmetric::product_of(const torch::Tensor& left, const torch::Tensor& right) {
  const auto l = left.contiguous(), r = right.contiguous();
  auto A = torch::empty({l.size(1), l.size(1)}, l.options());
  AT_DISPATCH_FLOATING_TYPES(A.scalar_type(), "symmetric product", [&] {
    lower_of_product(static_cast<int>(l.size(1)), static_cast<int>(l.size(0)), l.data_ptr<scalar_t>(),
                     r.data_ptr<scalar_t>(), A.data_ptr<scalar_t>());
  });
  return Symmetric(A);
}

torch::Tensor Symmetric::add_and_dot_(const torch::Tensor& c, const torch::Tensor& B) {
  const int64_t m = A_.size(0);
  auto sums =
      torch::empty({m}, torch::kFloat64);  // per row, so that threads do not change the order of summation
  const auto b_rows = B.contiguous();
  AT_DISPATCH_FLOATING_TYPES(A_.scalar_type(), "projection", [&] {
    scalar_t* a = A_.data_ptr<scalar_t>();
    const scalar_t* b = b_rows.data_ptr<scalar_t>();
    const scalar_t factor = c.item<scalar_t>();
    double* sum = sums.data_ptr<double>();
    for_rows_of_triangle(m, rows_worth_a_thread(m), [&](int64_t i) {
      scalar_t* a_row = a + i * m;
      const scalar_t* b_row = b + i * m;
      if (factor != 0)
        for (int64_t j = i; j < m; ++j) a_row[j] += factor * b_row[j];
      sum[i] = static_cast<double>(a_row[i]) * b_row[i] +
               2 * static_cast<double>(dot(a_row + i + 1, b_row + i + 1, m - i - 1));
    });
  });
  return sums.sum().to(A_.scalar_type());
}

void Symmetric::add_(const torch::Tensor& c, const torch::Tensor& B) {
  const int64_t m = A_.size(0);
  const auto b_rows = B.contiguous();
  AT_DISPATCH_FLOATING_TYPES(A_.scalar_type(), "sum of symmetric matrices", [&] {
    scalar_t* a = A_.data_ptr<scalar_t>();
    const scalar_t* b = b_rows.data_ptr<scalar_t>();
    const scalar_t factor = c.item<scalar_t>();
    for_rows_of_triangle(m, rows_worth_a_thread(m), [&](int64_t i) {
      for (int64_t j = i * m + i; j < (i + 1) * m; ++j) a[j] += factor * b[j];
    });
  });
}

torch::Tensor Symmetric::multiplied(const torch::Tensor& F, const torch::Tensor& factor) const {
  const auto f = F.contiguous();
  auto out = torch::empty_like(f);
  AT_DISPATCH_FLOATING_TYPES(A_.scalar_type(), "symmetric factor", [&] {
    multiply_lower(static_cast<int>(f.size(1)), static_cast<int>(f.size(0)), factor.item<scalar_t>(),
                   A_.data_ptr<scalar_t>(), f.data_ptr<scalar_t>(), out.data_ptr<scalar_t>());
  });
  return out;
}

}  // namespace eignn
