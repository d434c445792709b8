#include <cuda_runtime.h>

#include "equilibrium/chain_kernel.h"
#include "equilibrium/cuda_status.h"

namespace eignn {

namespace {

constexpr int columns = most_chain_columns, parts = 4;  // a thread has a column of a product, a part of it

// Σ_i p_i A_ij, by all threads of the block; thread j < columns returns it.
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

// What a block works on.
template <class T>
struct Row {
  T *A, *p, *partial;  // shared: the argument, the row that is multiplied, parts of sums
  T* at;               // the row's first term
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

int64_t shared_bytes(const ChainShape& shape, int64_t item) {
  return (shape.m * shape.m + columns + parts * columns) * item;
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
  if (shape.m > most_chain_columns) return false;
  int device = 0, most_shared = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return has_our_kernels() && shared_bytes(shape, item) <= most_shared;
}

template <class T>
void run_chain_on_gpu(T* P, const T* argument, const ChainShape& shape, void* stream) {
  launch<T>(forwards<T>, P, argument, shape, stream);
}

template <class T>
void pull_chain_on_gpu(T* C, const T* argument, const ChainShape& shape, void* stream) {
  launch<T>(backwards<T>, C, argument, shape, stream);
}

template void run_chain_on_gpu(float*, const float*, const ChainShape&, void*);
template void run_chain_on_gpu(double*, const double*, const ChainShape&, void*);
template void pull_chain_on_gpu(float*, const float*, const ChainShape&, void*);
template void pull_chain_on_gpu(double*, const double*, const ChainShape&, void*);

}  // namespace eignn
