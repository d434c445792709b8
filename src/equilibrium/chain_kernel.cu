#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include "equilibrium/chain_kernel.h"
#include "equilibrium/cuda_status.h"

namespace eignn {

namespace {

constexpr int columns = most_chain_columns,
              parts = 4;  // a thread sums every 4th term of a column

// Σ_i p_i A_ij, summed by all threads of the block; thread j < columns returns column j.
template <class T>
__device__ T times(const T* p, const T* A, T* partial, int m) {
  const int j = threadIdx.x % columns, part = threadIdx.x / columns;
  T sum = 0;
  if (j < m)
    for (int i = part; i < m; i += parts) sum += p[i] * A[i * m + j];
  partial[part * columns + j] = sum;
  __syncthreads();
  if (part == 0)
    for (int other = 1; other < parts; ++other) sum += partial[other * columns + j];
  return sum;
}

// The row of P that a block works on.
template <class T>
struct Row {
  T *A, *p, *partial;  // in shared memory: the argument, the current row, partial sums
  T* at;               // the row in term 0
  int64_t stride;      // from term to term

  __device__ Row(T* P, const T* argument, const ChainShape& s) {
    extern __shared__ unsigned char memory[];
    A = reinterpret_cast<T*>(memory);
    p = A + s.m * s.m;
    partial = p + columns;
    const int64_t run = blockIdx.x / s.rows;
    for (int64_t k = threadIdx.x; k < s.m * s.m; k += blockDim.x) A[k] = argument[run * s.m * s.m + k];
    at = P + blockIdx.x * s.m;
    stride = s.batch * s.rows * s.m;
  }
};

// T_1 = x, T_p = 2x T_{p-1} - T_{p-2}
template <class T>
__global__ void forwards(T* P, const T* argument, ChainShape s) {
  Row<T> row(P, argument, s);
  const int m = static_cast<int>(s.m), j = threadIdx.x;
  T before = 0, now = j < m ? row.at[j] : T(0);
  for (int64_t term = 1; term < s.terms; ++term) {
    if (j < m) row.p[j] = now;
    __syncthreads();
    const T product = times(row.p, row.A, row.partial, m);
    if (j < m) {
      const T next = term == 1 ? product / 2 : product - before;
      row.at[term * row.stride + j] = next;
      before = now;
      now = next;
    }
    __syncthreads();
  }
}

template <class T>
__global__ void backwards(T* C, const T* argument, ChainShape s) {
  Row<T> row(C, argument, s);
  const int m = static_cast<int>(s.m), j = threadIdx.x;
  for (int64_t term = s.terms - 1; term >= 1; --term) {
    T* here = row.at + term * row.stride;
    if (j < m) {
      if (term == 1) here[j] /= 2;
      row.p[j] = here[j];
    }
    __syncthreads();
    const T product = times(row.p, row.A, row.partial, m);
    if (j < m) {
      here[j - row.stride] += product;
      if (term >= 2) here[j - 2 * row.stride] -= here[j];
    }
    __syncthreads();
  }
}

// ---- a wide argument: all blocks work on one term and synchronise after it

constexpr int wide_threads = 256, lanes = 32;

// Σ_i p_ri A_ij for all rows r of p, by one warp, which reads row j of the symmetric A for its column j. Lane
// r returns the sum of row r.
template <class T>
__device__ T times_row(const T* p, int rows, const T* A_row, int m) {
  const int lane = threadIdx.x % lanes;
  T sum[most_wide_rows] = {};
#pragma unroll 4
  for (int i = lane; i < m; i += lanes) {
    const T a = A_row[i];
#pragma unroll
    for (int r = 0; r < most_wide_rows; ++r)
      if (r < rows) sum[r] += a * p[r * m + i];
  }
  T mine = 0;
#pragma unroll
  for (int r = 0; r < most_wide_rows; ++r) {
    for (int apart = 1; apart < lanes; apart *= 2) sum[r] += __shfl_xor_sync(~0u, sum[r], apart);
    if (lane == r) mine = sum[r];
  }
  return mine;
}

// Calls use((p A)_rj, r·m + j) for every entry of p A, then synchronises the grid.
template <class T, class Use>
__device__ void for_each_product(const T* p, const T* A, const ChainShape& s, const Use& use) {
  const int m = static_cast<int>(s.m), rows = static_cast<int>(s.rows), lane = threadIdx.x % lanes;
  const int warp = (blockIdx.x * wide_threads + threadIdx.x) / lanes,
            warps = gridDim.x * wide_threads / lanes;
  for (int j = warp; j < m; j += warps) {
    const T product = times_row(p, rows, A + static_cast<int64_t>(j) * m, m);
    if (lane < rows) use(product, lane * m + j);
  }
  cooperative_groups::this_grid().sync();
}

template <class T>
__global__ void __launch_bounds__(wide_threads) wide_forwards(T* P, const T* argument, ChainShape s) {
  const int64_t stride = s.rows * s.m;
  for (int64_t term = 1; term < s.terms; ++term) {
    T* next = P + term * stride;
    for_each_product(next - stride, argument, s, [&](T product, int k) {
      next[k] = term == 1 ? product / 2 : product - next[k - 2 * stride];
    });
  }
}

template <class T>
__global__ void __launch_bounds__(wide_threads) wide_backwards(T* C, const T* argument, ChainShape s) {
  const int64_t stride = s.rows * s.m;
  if (s.terms == 2) {
    for (int64_t k = blockIdx.x * wide_threads + threadIdx.x; k < stride; k += gridDim.x * wide_threads)
      C[stride + k] /= 2;
    cooperative_groups::this_grid().sync();
  }
  for (int64_t term = s.terms - 1; term >= 1; --term) {
    T* here = C + term * stride;
    for_each_product(here, argument, s, [&](T product, int k) {
      here[k - stride] += product;
      if (term == 2) here[k - stride] /= 2;  // T_1 = x and not 2x: half the argument
      if (term >= 2) here[k - 2 * stride] -= here[k];
    });
  }
}

int64_t shared_bytes(const ChainShape& shape, int64_t item) {
  return (shape.m * shape.m + columns + parts * columns) * item;
}

bool is_wide(const ChainShape& shape) {
  return shape.m > most_chain_columns;
}

template <class T>
void launch_wide(void (*kernel)(T*, const T*, ChainShape), T* P, const T* argument, const ChainShape& shape,
                 void* stream) {
  const int64_t wanted = (shape.m * lanes + wide_threads - 1) / wide_threads;
  launch_cooperative<T*, const T*, ChainShape>(kernel, wanted, wide_threads, stream, P, argument, shape);
}

template <class T>
void launch(void (*kernel)(T*, const T*, ChainShape), T* P, const T* argument, const ChainShape& shape,
            void* stream) {
  const auto bytes = static_cast<size_t>(shared_bytes(shape, sizeof(T)));
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  kernel<<<static_cast<unsigned>(shape.batch * shape.rows), columns * parts, bytes,
           static_cast<cudaStream_t>(stream)>>>(P, argument, shape);
  check(cudaGetLastError());
}

}  // namespace

bool chain_fits_on_gpu(const ChainShape& shape, int64_t item) {
  if (!has_our_kernels()) return false;
  if (is_wide(shape))
    return !shape.apart && shape.batch == 1 && shape.rows <= most_wide_rows && shape.m <= most_wide_columns &&
           has_cooperative_launch();
  int device = 0, most_shared = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return shared_bytes(shape, item) <= most_shared;
}

template <class T>
void run_chain_on_gpu(T* P, const T* argument, const ChainShape& shape, void* stream) {
  if (is_wide(shape)) return launch_wide<T>(wide_forwards<T>, P, argument, shape, stream);
  launch<T>(forwards<T>, P, argument, shape, stream);
}

template <class T>
void pull_chain_on_gpu(T* C, const T* argument, const ChainShape& shape, void* stream) {
  if (is_wide(shape)) return launch_wide<T>(wide_backwards<T>, C, argument, shape, stream);
  launch<T>(backwards<T>, C, argument, shape, stream);
}

template void run_chain_on_gpu(float*, const float*, const ChainShape&, void*);
template void run_chain_on_gpu(double*, const double*, const ChainShape&, void*);
template void pull_chain_on_gpu(float*, const float*, const ChainShape&, void*);
template void pull_chain_on_gpu(double*, const double*, const ChainShape&, void*);

}  // namespace eignn
