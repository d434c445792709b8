#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include "equilibrium/cuda_status.h"
#include "equilibrium/node/semi_iteration_kernel.h"

namespace eignn {

namespace {

constexpr int group = semi_iteration_group, threads = 256, lanes = 32;
constexpr int in_quad = 4, quads = group / in_quad, slots = lanes / quads;  // of a warp that works on one row

template <class T>
struct alignas(16) Quad {
  T at[in_quad];
};

// How many entries of a row a lane loads ahead: long rows are bound by memory latency.
template <class T>
constexpr int under_way = 32 / sizeof(T);

// Σ_e value_e y_column(e) over a row, four columns per lane. The warp takes `slots` entries at a time and
// sums over the slots at the end.
template <class T>
__device__ __forceinline__ Quad<T> receive(const SemiIteration<T>& s, int row, const T* y, int stride,
                                           int slot) {
  Quad<T> sum = {};
  const int end = s.M.begin[row + 1];
  for (int base = s.M.begin[row]; base < end; base += slots * under_way<T>) {
    int from[under_way<T>];
    T value[under_way<T>];
#pragma unroll
    for (int u = 0; u < under_way<T>; ++u) {
      const int e = base + u * slots + slot;
      from[u] = e < end ? s.M.column[e] : -1;
      value[u] = e < end ? s.M.value[e] : T(0);
    }
#pragma unroll
    for (int u = 0; u < under_way<T>; ++u)
      if (from[u] >= 0) {
        const auto there = *reinterpret_cast<const Quad<T>*>(y + static_cast<int64_t>(from[u]) * stride);
        for (int q = 0; q < in_quad; ++q) sum.at[q] += value[u] * there.at[q];
      }
  }
  for (int apart = quads; apart < lanes; apart *= 2)
    for (int q = 0; q < in_quad; ++q) sum.at[q] += __shfl_xor_sync(~0u, sum.at[q], apart);
  return sum;
}

template <class T>
__global__ void __launch_bounds__(threads) semi_iterate(const __grid_constant__ SemiIteration<T> s) {
  const auto grid = cooperative_groups::this_grid();
  const int groups = (s.columns + group - 1) / group, stride = groups * group;
  T *now = s.now, *before = s.before;
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x,
                all = static_cast<int64_t>(gridDim.x) * threads;
  // now = c, padded with zeros to whole groups of columns. In groups without steps y = c, and the correction
  // is 0.
  for (int64_t k = thread; k < s.M.rows * stride; k += all) {
    const int row = static_cast<int>(k / stride), j = static_cast<int>(k % stride);
    now[k] = j < s.columns ? s.c[static_cast<int64_t>(row) * s.columns + j] : T(0);
    if (j < s.columns && s.steps[j / group] == 0) s.correction[static_cast<int64_t>(row) * s.columns + j] = 0;
  }
  grid.sync();
  const int warp = static_cast<int>(thread / lanes), warps = static_cast<int>(all / lanes),
            lane = threadIdx.x % lanes, slot = lane / quads;
  int first = 0;  // of the groups still active
  for (int step = 0; step < s.steps[groups - 1]; ++step) {
    while (s.steps[first] <= step) ++first;
    const int active = groups - first;
    for (int item = warp; item < static_cast<int>(s.M.rows) * active; item += warps) {
      const int row = item / active, g = first + item % active, column = g * group + (lane % quads) * in_quad;
      const Quad<T> sum = receive(s, row, now + column, stride, slot);
      if (slot != 0) continue;
      const bool is_last = step + 1 == s.steps[g];
      for (int q = 0; q < in_quad; ++q) {
        const int j = column + q;
        const int64_t at = static_cast<int64_t>(row) * s.columns + j;
        T &last = before[static_cast<int64_t>(row) * stride + j], next = 0;
        if (j < s.columns) {
          const T c = s.c[at];
          next = c + s.a[j] * sum.at[q];
          if (step > 0) next = last + s.omega[static_cast<int64_t>(step) * s.columns + j] * (next - last);
          if (is_last) s.correction[at] = next - c;
        }
        last = next;
      }
    }
    T* const spare = before;
    before = now;
    now = spare;
    grid.sync();
  }
}

}  // namespace

bool semi_iteration_fits_on_gpu(int64_t rows, int64_t columns) {
  constexpr int64_t most_rows = (int64_t{1} << 30) / most_semi_iteration_groups;  // an int counts the items
  if (rows > most_rows || columns > most_semi_iteration_groups * group) return false;
  return has_our_kernels() && has_cooperative_launch();
}

template <class T>
void run_semi_iteration_on_gpu(const SemiIteration<T>& problem, void* stream) {
  const int64_t items = problem.M.rows * most_semi_iteration_groups;  // a warp takes one at a time
  launch_cooperative<SemiIteration<T>>(semi_iterate<T>, items * lanes / threads + 1, threads, stream,
                                       problem);
}

template void run_semi_iteration_on_gpu(const SemiIteration<float>&, void*);
template void run_semi_iteration_on_gpu(const SemiIteration<double>&, void*);

}  // namespace eignn
