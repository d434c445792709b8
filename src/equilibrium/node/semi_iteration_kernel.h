// Chebyshev's semi-iteration on a few columns on a GPU. All steps run in one kernel, because launching the
// operations of a step would take longer than the step.
#pragma once

#include <cstdint>

#include "equilibrium/rows_on_gpu.h"

namespace eignn {

constexpr int semi_iteration_group = 16;  // columns that take the same number of steps
constexpr int most_semi_iteration_groups = 8;

/// y₁ = c + M c a, y_k+1 = y_k-1 + ω_k+1 (c + M y_k a - y_k-1), column by column.
template <class T>
struct SemiIteration {
  RowsOnGpu<T> M;
  int32_t columns;
  const T *c, *a, *omega;  // (rows, columns), (columns), (steps, columns); ω₁ is not read
  int32_t steps[most_semi_iteration_groups];  // of each group, ascending
  T *now, *before;                            // work space: rows × whole groups each
  T* correction;                              // y - c, (rows, columns)
};

/// Whether the current GPU can run a problem of this size.
bool semi_iteration_fits_on_gpu(int64_t rows, int64_t columns);

/// `stream` is a cudaStream_t.
template <class T>
void run_semi_iteration_on_gpu(const SemiIteration<T>& problem, void* stream);

}  // namespace eignn
