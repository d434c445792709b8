// The arguments of the kernels: plain structs of pointers and numbers (kernel_table.h says why).
#pragma once

#include <stdint.h>

namespace eignn {

// ---- gth_kernel.h

template <class T>
struct Digits;
template <>
struct Digits<double> {
  using Int = int64_t;
  static constexpr int lanes = 8, bits = 512;
};
template <>
struct Digits<float> {
  using Int = int32_t;
  static constexpr int lanes = 16, bits = 64;
};

/// The vectors of one block of shifts: `mantissa` and `digit` are [nodes][lanes], in elimination order.
template <class T>
struct LaneVector {
  T* mantissa;
  typename Digits<T>::Int* digit;
};

/// The vectors of all blocks: place k of block b begins at `mantissa + b·stride + k·lanes`, likewise the
/// digits.
template <class T>
struct LaneBlocks {
  const T* mantissa;
  const typename Digits<T>::Int* digit;
  int64_t stride, width;  // width: the number of shifts

  LaneBlocks at(int64_t place) const {
    return {mantissa + place * Digits<T>::lanes, digit + place * Digits<T>::lanes, stride, width};
  }
};

/// The arrays of an Elimination (elimination.h) that the kernels read.
struct EliminationArrays {
  int64_t nodes, slots, lower_slots;  // lower_slots: 0 for a symmetric graph, which keeps `upper` alone
  bool symmetric;
  const int64_t* begin;
  const int32_t* later;
  const double *lower, *upper;
  const int64_t* pair_begin;
  const int32_t* pair_slot;
  const double *diagonal, *h;
  const double* slack;  // null: pivots must be formed by subtraction
  const int64_t* incoming_begin;
  const int32_t* incoming;
  const double* incoming_weight;
};

/// The arrays of a GthFactor, to be filled.
template <class T>
struct FactorArrays {
  T *lower, *upper;  // [slots][lanes]
  typename Digits<T>::Int *lower_digit, *upper_digit;
  T *inverse_pivot, *excess;  // [nodes][lanes]
  void* row;                  // scratch for the longest row's mantissas and digits, 64-byte aligned
};

/// The same, filled. Without `has_digits` every digit is 0 and they are not read.
template <class T>
struct FilledFactor {
  const T *lower, *upper;
  const typename Digits<T>::Int *lower_digit, *upper_digit;
  const T* inverse_pivot;
  bool has_digits;
};

// ---- sparse_kernel.h

constexpr int64_t cache_line = 64;  // bytes

/// The most cache lines of columns that a kernel takes at once, so that their sums stay in registers.
constexpr int64_t most_lines = 4;

/// How many entries ahead a row is prefetched.
constexpr int64_t fetch_ahead = 32;

/// A matrix by its rows: row i has the entries begin[i] … begin[i+1]-1. Where `value` is null, entry (i, j)
/// is row_factor[i] · column_factor[j], times diagonal[i] for i = j unless `diagonal` is null, rounded to T:
/// the matrix then takes 4 bytes an entry.
template <class T>
struct CompressedRows {
  const int64_t* begin;
  const int32_t* column;
  const T* value;
  const double *row_factor = nullptr, *column_factor = nullptr, *diagonal = nullptr;
};

/// Rows that are `stride` numbers apart.
template <class T>
struct StridedRows {
  T* at;
  int64_t stride;
};

/// One step of a semi-iteration for (I - a S) z = x, a column each, on matrices of `width` columns, in place:
///
///     r = x + a S z - z,   last ← last + ω (r + z - last)
///
/// Works on the columns begin … width-1, which must be one to most_lines whole cache lines. A null X is 0.
template <class T>
struct SemiIterationStep {
  const T *Z, *X, *a, *omega;
  T* last;
  int64_t width, begin;
};

}  // namespace eignn
