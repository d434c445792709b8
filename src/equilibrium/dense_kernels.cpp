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
}

namespace eignn {

namespace {

constexpr int64_t tile = 32;  // two tiles of doubles fit the first cache

// Rows of m numbers that are worth a thread. Below, one thread does it all: libgomp's would spin afterwards,
// and keep OpenBLAS's from the core.
int64_t rows_worth_a_thread(int64_t m) {
  constexpr int64_t numbers = 1 << 17;
  return std::max<int64_t>(1, numbers / std::max<int64_t>(m, 1));
}

// Calls visit(i0, i1, j0, j1) for the tiles on and above the diagonal, in parallel by rows of tiles.
template <class Visit>
void for_upper_tiles(int64_t n, Visit visit) {
  at::parallel_for(0, (n + tile - 1) / tile, (rows_worth_a_thread(n) + tile - 1) / tile,
                   [&](int64_t first, int64_t last) {
                     for (int64_t i0 = first * tile; i0 < std::min(n, last * tile); i0 += tile)
                       for (int64_t j0 = i0; j0 < n; j0 += tile)
                         visit(i0, std::min(n, i0 + tile), j0, std::min(n, j0 + tile));
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
void add_transposed(T* a, int64_t n) {
  for_upper_tiles(n, [&](int64_t i0, int64_t i1, int64_t j0, int64_t j1) {
    for (int64_t i = i0; i < i1; ++i)
      for (int64_t j = std::max(j0, i); j < j1; ++j)
        a[j * n + i] = a[i * n + j] = a[i * n + j] + a[j * n + i];
  });
}

// The lower triangle of a aᵀ, all by columns.
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

// Σ a_k b_k in 16 sums, which the compiler keeps in vectors; the order is fixed.
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
  // Read by columns, as Fortran does, f is Fᵀ: the product is f fᵀ, and its lower triangle our upper one.
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

void symmetrise_(torch::Tensor& A) {
  if (!A.is_cpu()) {
    A = A + A.t();
    return;
  }
  AT_DISPATCH_FLOATING_TYPES(A.scalar_type(), "symmetric part",
                             [&] { add_transposed(A.data_ptr<scalar_t>(), A.size(0)); });
}

torch::Tensor add_and_dot_(torch::Tensor& A, const torch::Tensor& c, const torch::Tensor& B) {
  if (!A.is_cpu()) {
    A.addcmul_(c, B);
    return (A * B).sum();
  }
  const int64_t rows = A.size(0), m = A.size(1);
  auto sums = torch::empty({rows}, torch::kFloat64);  // by rows, so that threads do not change the order
  const auto b_rows = B.contiguous();
  AT_DISPATCH_FLOATING_TYPES(A.scalar_type(), "projection", [&] {
    scalar_t* a = A.data_ptr<scalar_t>();
    const scalar_t* b = b_rows.data_ptr<scalar_t>();
    const scalar_t factor = c.item<scalar_t>();
    double* sum = sums.data_ptr<double>();
    at::parallel_for(0, rows, rows_worth_a_thread(m), [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        for (int64_t j = i * m; j < (i + 1) * m; ++j) a[j] += factor * b[j];
        sum[i] = dot(a + i * m, b + i * m, m);
      }
    });
  });
  return sums.sum().to(A.scalar_type());
}

}  // namespace eignn
