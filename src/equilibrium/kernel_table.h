// The hand-written kernels, compiled once per instruction set and chosen when the program runs.
//
// Each level's copies lie in a namespace of its own (`eignn::avx512`). Their files include neither the
// standard library nor libtorch: an inline function of those headers, compiled with AVX-512, could be the
// copy that the linker keeps for the whole program. So arguments are plain pointers, and memory is allocated
// by the caller. Callers use gth_kernel.h, sparse_kernel.h and thin_kernel.h, which pass on to the level of
// this processor.
#pragma once

#include <stdint.h>

#include "equilibrium/kernel_arguments.h"

namespace eignn {

template <class T>
struct KernelsOf {
  using Int = typename Digits<T>::Int;
  // gth_kernel.h
  bool (*factor)(const EliminationArrays& e, const T* a, const T* complement, const FactorArrays<T>& f,
                 bool* has_digits);
  void (*solve)(const EliminationArrays& e, const FilledFactor<T>& f, LaneVector<T> b, bool transposed);
  void (*receive)(const EliminationArrays& e, const LaneBlocks<T>& y, int64_t i, T* mantissa, Int* digit);
  Int (*leading_digit)(const LaneBlocks<T>& node);
  void (*unpack)(const LaneBlocks<T>& node, Int digits, T scale, T* row);
  // sparse_kernel.h
  void (*multiply_rows)(const CompressedRows<T>& S, StridedRows<const T> Z, int64_t columns,
                        StridedRows<T> out, int64_t first, int64_t last);
  void (*advance_rows)(const CompressedRows<T>& S, const SemiIterationStep<T>& step, int64_t first,
                       int64_t last, double* r2, double* z2);
  // thin_kernel.h
  void (*add_thin_product)(int64_t k, int64_t m, const T* P, const T* A, T* out, int64_t first, int64_t last);
};

struct KernelTable {
  const char* level;
  KernelsOf<float> in_float;
  KernelsOf<double> in_double;
};

enum class KernelLevel { plain, avx2, avx512 };

/// The table of one level; null where the program has none (another architecture) or this processor cannot
/// run it.
const KernelTable* kernel_table(KernelLevel level);

/// The table of the highest level that this processor runs.
const KernelTable& kernel_table();

template <class T>
const KernelsOf<T>& kernels_of(const KernelTable& table);
template <>
inline const KernelsOf<float>& kernels_of(const KernelTable& table) {
  return table.in_float;
}
template <>
inline const KernelsOf<double>& kernels_of(const KernelTable& table) {
  return table.in_double;
}

}  // namespace eignn
