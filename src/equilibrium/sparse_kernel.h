// The inner loops of products with a sparse matrix: memory is what they wait for, so columns are worked on a
// cache line at a time, the rows that come next are fetched ahead, and what follows a product is done while
// its row is at hand.
#pragma once

#include "equilibrium/kernel_arguments.h"

namespace eignn {

/// out_i = Σ_e value_e z_column(e) for the rows first … last-1 and so many columns.
template <class T>
void multiply_rows(const CompressedRows<T>& S, StridedRows<const T> Z, int64_t columns, StridedRows<T> out,
                   int64_t first, int64_t last);

/// The rows first … last-1. Adds to r2[c] and z2[c] the squares of r and z in column begin + c.
template <class T>
void advance_rows(const CompressedRows<T>& S, const SemiIterationStep<T>& step, int64_t first, int64_t last,
                  double* r2, double* z2);

}  // namespace eignn
