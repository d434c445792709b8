// Compiled once per level: see kernel_table.h for what may be included here.
#include "equilibrium/kernel_level.h"

namespace eignn::EIGNN_KERNEL_LEVEL {

namespace {

constexpr int depth = 8;           // rows of A that are added at once, for one load and store of out
constexpr int most_rows = 6;       // of P at once: their factors and the rows of A fit into the registers
constexpr int64_t columns = 4096;  // of a block, whose rows of out stay in the L2 cache

inline int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

// out[c] += Σ_d P[c][d] A[d] for `rows` rows of P and `deep` rows of A.
template <int rows, int deep, class T>
void add_rows(const T* P, const T* A, int64_t m, T* out, int64_t width) {
  T p[rows][deep];
  for (int c = 0; c < rows; ++c)
    for (int d = 0; d < deep; ++d) p[c][d] = P[c * m + d];
#pragma omp simd
  for (int64_t j = 0; j < width; ++j) {
    T a[deep];
    for (int d = 0; d < deep; ++d) a[d] = A[d * m + j];
    for (int c = 0; c < rows; ++c) {
      T sum = out[c * m + j];
      for (int d = 0; d < deep; ++d) sum += p[c][d] * a[d];
      out[c * m + j] = sum;
    }
  }
}

template <int rows, class T>
void multiply(int64_t m, const T* P, const T* A, T* out, int64_t first, int64_t last) {
  for (int64_t begin = first; begin < last; begin += columns) {
    const int64_t width = smaller(columns, last - begin);
    int64_t i = 0;
    for (; i + depth <= m; i += depth) add_rows<rows, depth>(P + i, A + i * m + begin, m, out + begin, width);
    for (; i < m; ++i) add_rows<rows, 1>(P + i, A + i * m + begin, m, out + begin, width);
  }
}

template <class T>
void multiply(int64_t k, int64_t m, const T* P, const T* A, T* out, int64_t first, int64_t last) {
  for (int64_t c = 0; c < k; c += most_rows) {
    const T* p = P + c * m;
    T* to = out + c * m;
    switch (smaller(most_rows, k - c)) {
      case 1:
        multiply<1>(m, p, A, to, first, last);
        break;
      case 2:
        multiply<2>(m, p, A, to, first, last);
        break;
      case 3:
        multiply<3>(m, p, A, to, first, last);
        break;
      case 4:
        multiply<4>(m, p, A, to, first, last);
        break;
      case 5:
        multiply<5>(m, p, A, to, first, last);
        break;
      default:
        multiply<most_rows>(m, p, A, to, first, last);
    }
  }
}

}  // namespace

template <class T>
void add_thin_product(int64_t k, int64_t m, const T* P, const T* A, T* out, int64_t first, int64_t last) {
  multiply(k, m, P, A, out, first, last);
}

template void add_thin_product(int64_t, int64_t, const float*, const float*, float*, int64_t, int64_t);
template void add_thin_product(int64_t, int64_t, const double*, const double*, double*, int64_t, int64_t);

}  // namespace eignn::EIGNN_KERNEL_LEVEL
