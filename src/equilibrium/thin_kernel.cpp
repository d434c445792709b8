#include "equilibrium/thin_kernel.h"

#include <algorithm>

namespace eignn {

namespace {

constexpr int64_t depth = 8;      // rows of A that are added at once, so that out is loaded once for them
constexpr int64_t columns = 512;  // of a block: depth rows of A and one of out stay in the first cache

// out += Σ_i p[i] A[i] over `depth` rows of A.
template <class T>
void add_rows(const T* p, const T* A, int64_t m, T* out, int64_t width) {
  const T p0 = p[0], p1 = p[1], p2 = p[2], p3 = p[3], p4 = p[4], p5 = p[5], p6 = p[6], p7 = p[7];
  const T *a0 = A, *a1 = A + m, *a2 = A + 2 * m, *a3 = A + 3 * m, *a4 = A + 4 * m, *a5 = A + 5 * m,
          *a6 = A + 6 * m, *a7 = A + 7 * m;
#pragma omp simd
  for (int64_t j = 0; j < width; ++j)
    out[j] += (p0 * a0[j] + p1 * a1[j]) + (p2 * a2[j] + p3 * a3[j]) + (p4 * a4[j] + p5 * a5[j]) +
              (p6 * a6[j] + p7 * a7[j]);
}

template <class T>
void multiply(int64_t k, int64_t m, const T* P, const T* A, T* out, int64_t first, int64_t last) {
  for (int64_t begin = first; begin < last; begin += columns) {
    const int64_t width = std::min(columns, last - begin);
    int64_t i = 0;
    for (; i + depth <= m; i += depth)
      for (int64_t c = 0; c < k; ++c)
        add_rows(P + c * m + i, A + i * m + begin, m, out + c * m + begin, width);
    for (; i < m; ++i)
      for (int64_t c = 0; c < k; ++c) {
        const T p = P[c * m + i];
        const T* a = A + i * m + begin;
        T* to = out + c * m + begin;
#pragma omp simd
        for (int64_t j = 0; j < width; ++j) to[j] += p * a[j];
      }
  }
}

}  // namespace

void add_thin_product(int64_t k, int64_t m, const float* P, const float* A, float* out, int64_t first,
                      int64_t last) {
  multiply(k, m, P, A, out, first, last);
}

void add_thin_product(int64_t k, int64_t m, const double* P, const double* A, double* out, int64_t first,
                      int64_t last) {
  multiply(k, m, P, A, out, first, last);
}

}  // namespace eignn
