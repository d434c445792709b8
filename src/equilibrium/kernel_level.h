// The kernels of the level that is being compiled: the build gives EIGNN_KERNEL_LEVEL (plain, avx2, avx512)
// and its flags.
#pragma once

#include "equilibrium/kernel_table.h"

namespace eignn::EIGNN_KERNEL_LEVEL {

extern const KernelTable table;

template <class T>
bool factor(const EliminationArrays& e, const T* a, const T* complement, const FactorArrays<T>& f,
            bool* has_digits);
template <class T>
void solve(const EliminationArrays& e, const FilledFactor<T>& f, LaneVector<T> b, bool transposed);
template <class T>
void receive(const EliminationArrays& e, const LaneBlocks<T>& y, int64_t i, T* mantissa,
             typename Digits<T>::Int* digit);
template <class T>
typename Digits<T>::Int leading_digit(const LaneBlocks<T>& node);
template <class T>
void unpack(const LaneBlocks<T>& node, typename Digits<T>::Int digits, T scale, T* row);
template <class T>
void multiply_rows(const CompressedRows<T>& S, StridedRows<const T> Z, int64_t columns, StridedRows<T> out,
                   int64_t first, int64_t last);
template <class T>
void advance_rows(const CompressedRows<T>& S, const SemiIterationStep<T>& step, int64_t first, int64_t last,
                  double* r2, double* z2);
template <class T>
void add_thin_product(int64_t k, int64_t m, const T* P, const T* A, T* out, int64_t first, int64_t last);

}  // namespace eignn::EIGNN_KERNEL_LEVEL
