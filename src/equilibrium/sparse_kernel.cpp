// Compiled once per level: see kernel_table.h for what may be included here.
#include <string.h>

#include "equilibrium/kernel_level.h"

namespace eignn::EIGNN_KERNEL_LEVEL {

namespace {

// Vectors of a cache line (a GCC and clang extension), which the compiler maps onto the registers of the
// target.
typedef double DoubleLine __attribute__((vector_size(cache_line)));
typedef float FloatLine __attribute__((vector_size(cache_line)));
template <class T>
struct Simd;
template <>
struct Simd<double> {
  using Line = DoubleLine;
};
template <>
struct Simd<float> {
  using Line = FloatLine;
};
template <class T>
using Line = typename Simd<T>::Line;

// How many numbers a cache line holds.
template <class T>
constexpr int64_t per_line = cache_line / static_cast<int64_t>(sizeof(T));

template <class T>
inline Line<T> load(const T* at) {
  Line<T> line;
  memcpy(&line, at, sizeof line);
  return line;
}

template <class T>
inline void store(T* at, const Line<T>& line) {
  memcpy(at, &line, sizeof line);
}

inline int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

// Longer rows are summed in stretches of this length, which keeps the rounding error small at a node with
// thousands of neighbours.
constexpr int64_t stretch = 256;

// Entry e of row i, in column j. The product of the factors is rounded in double first, as a stored value is;
// a diagonal of 2 does not round.
template <class T, bool stored>
inline T entry(const CompressedRows<T>& S, int64_t i, int64_t e, int64_t j) {
  if constexpr (stored) return S.value[e];
  const double s = S.row_factor[i] * S.column_factor[j];
  return static_cast<T>(S.diagonal != nullptr && i == j ? s * S.diagonal[i] : s);
}

// t = Σ_e value_e z_column(e) over row i, for V cache lines of columns; Z points to the first of these
// columns. Rows are prefetched up to the entry `end`.
template <class T, int V, bool stored>
inline void receive(const CompressedRows<T>& S, int64_t i, int64_t end, const T* Z, int64_t stride,
                    Line<T>* t) {
  for (int v = 0; v < V; ++v) t[v] = Line<T>{};
  for (int64_t e = S.begin[i]; e < S.begin[i + 1];) {
    const int64_t stop = smaller(S.begin[i + 1], e + stretch);
    Line<T> part[V] = {};
    for (; e < stop; ++e) {
      const int64_t ahead = S.column[smaller(e + fetch_ahead, end - 1)], j = S.column[e];
      const T* next = Z + ahead * stride;
      const T* z = Z + j * stride;
      if constexpr (!stored) __builtin_prefetch(S.column_factor + ahead);
      const T s = entry<T, stored>(S, i, e, j);
      for (int v = 0; v < V; ++v) {
        __builtin_prefetch(next + v * per_line<T>);
        part[v] += s * load(z + v * per_line<T>);
      }
    }
    for (int v = 0; v < V; ++v) t[v] += part[v];
  }
}

template <class T, int V, bool stored>
void multiply_lines(const CompressedRows<T>& S, StridedRows<const T> Z, StridedRows<T> out, int64_t first,
                    int64_t last) {
  Line<T> t[V];
  for (int64_t i = first; i < last; ++i) {
    receive<T, V, stored>(S, i, S.begin[last], Z.at, Z.stride, t);
    for (int v = 0; v < V; ++v) store(out.at + i * out.stride + v * per_line<T>, t[v]);
  }
}

// The remaining columns, fewer than a cache line.
template <class T, bool stored>
void multiply_rest(const CompressedRows<T>& S, StridedRows<const T> Z, int64_t columns, StridedRows<T> out,
                   int64_t first, int64_t last) {
  for (int64_t i = first; i < last; ++i) {
    T t[per_line<T>] = {};
    for (int64_t e = S.begin[i]; e < S.begin[i + 1];) {
      const int64_t stop = smaller(S.begin[i + 1], e + stretch);
      T part[per_line<T>] = {};
      for (; e < stop; ++e) {
        const int64_t j = S.column[e];
        const T* z = Z.at + j * Z.stride;
        const T s = entry<T, stored>(S, i, e, j);
        for (int64_t c = 0; c < columns; ++c) part[c] += s * z[c];
      }
      for (int64_t c = 0; c < columns; ++c) t[c] += part[c];
    }
    for (int64_t c = 0; c < columns; ++c) out.at[i * out.stride + c] = t[c];
  }
}

// Squares are summed in T over this many rows and then in double, which is accurate enough at half the work.
constexpr int64_t rows_in_a_sum = 64;

template <class T, int V, bool stored>
void advance_lines(const CompressedRows<T>& S, const SemiIterationStep<T>& step, int64_t first, int64_t last,
                   double* r2, double* z2) {
  constexpr int64_t L = per_line<T>;
  Line<T> a[V], omega[V], t[V];
  for (int v = 0; v < V; ++v) {
    a[v] = load(step.a + step.begin + v * L);
    omega[v] = load(step.omega + step.begin + v * L);
  }
  for (int64_t block = first; block < last; block += rows_in_a_sum) {
    Line<T> r_squares[V] = {}, z_squares[V] = {};
    for (int64_t i = block; i < smaller(last, block + rows_in_a_sum); ++i) {
      receive<T, V, stored>(S, i, S.begin[last], step.Z + step.begin, step.width, t);
      const int64_t row = i * step.width + step.begin;
      for (int v = 0; v < V; ++v) {
        const Line<T> z = load(step.Z + row + v * L), before = load(step.last + row + v * L);
        const Line<T> x = step.X ? load(step.X + row + v * L) : Line<T>{};
        const Line<T> r = x + a[v] * t[v] - z;
        store(step.last + row + v * L, before + omega[v] * (r + (z - before)));
        r_squares[v] += r * r;
        z_squares[v] += z * z;
      }
    }
    for (int v = 0; v < V; ++v)
      for (int64_t c = 0; c < L; ++c) {
        r2[v * L + c] += static_cast<double>(r_squares[v][c]);
        z2[v * L + c] += static_cast<double>(z_squares[v][c]);
      }
  }
}

template <class T, bool stored>
void multiply(const CompressedRows<T>& S, StridedRows<const T> Z, int64_t columns, StridedRows<T> out,
              int64_t first, int64_t last) {
  constexpr int64_t line = per_line<T>, lines = most_lines * line;
  const auto from = [&](int64_t c) { return StridedRows<const T>{Z.at + c, Z.stride}; };
  const auto to = [&](int64_t c) { return StridedRows<T>{out.at + c, out.stride}; };
  int64_t c = 0;
  for (; c + lines <= columns; c += lines)
    multiply_lines<T, most_lines, stored>(S, from(c), to(c), first, last);
  for (; c + line <= columns; c += line) multiply_lines<T, 1, stored>(S, from(c), to(c), first, last);
  if (c < columns) multiply_rest<T, stored>(S, from(c), columns - c, to(c), first, last);
}

template <class T, bool stored>
void advance(const CompressedRows<T>& S, const SemiIterationStep<T>& step, int64_t first, int64_t last,
             double* r2, double* z2) {
  switch ((step.width - step.begin) / per_line<T>) {
    case 1:
      return advance_lines<T, 1, stored>(S, step, first, last, r2, z2);
    case 2:
      return advance_lines<T, 2, stored>(S, step, first, last, r2, z2);
    case 3:
      return advance_lines<T, 3, stored>(S, step, first, last, r2, z2);
    default:
      static_assert(most_lines == 4, "a case for each number of lines");
      return advance_lines<T, 4, stored>(S, step, first, last, r2, z2);
  }
}

}  // namespace

template <class T>
void multiply_rows(const CompressedRows<T>& S, StridedRows<const T> Z, int64_t columns, StridedRows<T> out,
                   int64_t first, int64_t last) {
  S.value != nullptr ? multiply<T, true>(S, Z, columns, out, first, last)
                     : multiply<T, false>(S, Z, columns, out, first, last);
}

template <class T>
void advance_rows(const CompressedRows<T>& S, const SemiIterationStep<T>& step, int64_t first, int64_t last,
                  double* r2, double* z2) {
  S.value != nullptr ? advance<T, true>(S, step, first, last, r2, z2)
                     : advance<T, false>(S, step, first, last, r2, z2);
}

template void multiply_rows(const CompressedRows<float>&, StridedRows<const float>, int64_t,
                            StridedRows<float>, int64_t, int64_t);
template void multiply_rows(const CompressedRows<double>&, StridedRows<const double>, int64_t,
                            StridedRows<double>, int64_t, int64_t);
template void advance_rows(const CompressedRows<float>&, const SemiIterationStep<float>&, int64_t, int64_t,
                           double*, double*);
template void advance_rows(const CompressedRows<double>&, const SemiIterationStep<double>&, int64_t, int64_t,
                           double*, double*);

}  // namespace eignn::EIGNN_KERNEL_LEVEL
