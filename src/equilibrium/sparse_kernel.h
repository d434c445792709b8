// The inner loops of products with a sparse matrix: memory is what they wait for, so columns are worked on a
// cache line at a time, the rows that come next are fetched ahead, and what follows a product is done while
// its row is at hand.
#pragma once

#include <cstdint>

namespace eignn {

constexpr int64_t cache_line = 64;  // bytes

/// A step takes at most so many lines of columns at once: their sums stay in registers.
constexpr int64_t most_lines = 4;

/// So many entries ahead rows are fetched; `column` has as many valid entries to spare at its end.
constexpr int64_t fetch_ahead = 32;

/// A matrix by its rows: row i has the entries begin[i] … begin[i+1]-1.
template <class T>
struct CompressedRows {
  const int64_t* begin;
  const int32_t* column;
  const T* value;
};

/// Rows that are `stride` numbers apart.
template <class T>
struct StridedRows {
  T* at;
  int64_t stride;
};

/// out_i = Σ_e value_e z_column(e) for the rows first … last-1 and so many columns.
template <class T>
void multiply_rows(const CompressedRows<T>& S, StridedRows<const T> Z, int64_t columns, StridedRows<T> out,
                   int64_t first, int64_t last);

/// One step of a semi-iteration for (I - a S) z = x, a column each, on matrices of `width` columns, in place:
///
///     r = x + a S z - z,   last ← last + ω (r + z - last)
///
/// Columns begin … width-1 take part, one to most_lines whole lines of them. A null X is 0.
template <class T>
struct SemiIterationStep {
  const T *Z, *X, *a, *omega;
  T* last;
  int64_t width, begin;
};

/// The rows first … last-1. Adds to r2[c] and z2[c] the squares of r and z in column begin + c.
template <class T>
void advance_rows(const CompressedRows<T>& S, const SemiIterationStep<T>& step, int64_t first, int64_t last,
                  double* r2, double* z2);

}  // namespace eignn
