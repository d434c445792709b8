// The inner loops of products with a sparse matrix. They are bound by memory, so they work on a cache line of
// columns at a time, prefetch the next rows, and do the operations after a product while its row is in
// registers.
#pragma once

#include "equilibrium/kernel_arguments.h"

namespace eignn {

/// out_i = Σ_e value_e z_column(e) for the rows first … last-1 and the first `columns` columns.
template <class T>
void multiply_rows(const CompressedRows<T>& S, StridedRows<const T> Z, int64_t columns, StridedRows<T> out,
                   int64_t first, int64_t last);

/// Makes the step (SemiIterationStep) for the rows first … last-1. Adds the squares of r and z in column
/// begin + c to r2[c] and z2[c].
template <class T>
void advance_rows(const CompressedRows<T>& S, const SemiIterationStep<T>& step, int64_t first, int64_t last,
                  double* r2, double* z2);

}  // namespace eignn
