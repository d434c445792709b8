#include "train/adam_kernel.h"

#include <cuda_runtime.h>

#include "equilibrium/cuda_status.h"

namespace eignn {

namespace {

constexpr int threads = 256;

unsigned blocks_for(int64_t size) {
  return static_cast<unsigned>((size + threads - 1) / threads);
}

template <class T>
__global__ void __launch_bounds__(threads)
    update(AdamUpdate<T> by, int64_t size, const T* gradient, T* p, T* m, T* v) {
  const int64_t k = blockIdx.x * static_cast<int64_t>(threads) + threadIdx.x;
  if (k < size) by(gradient[k], p[k], m[k], v[k]);
}

// blockIdx.y is the run.
template <class T>
__global__ void __launch_bounds__(threads)
    update_runs(const AdamUpdate<T>* by, int64_t size, const T* gradient, T* p, T* m, T* v) {
  const int64_t k = blockIdx.x * static_cast<int64_t>(threads) + threadIdx.x;
  const int64_t at = blockIdx.y * size + k;
  if (k < size) by[blockIdx.y](gradient[at], p[at], m[at], v[at]);
}

}  // namespace

bool updates_on_gpu() {
  return has_our_kernels();
}

template <class T>
void update_on_gpu(const AdamUpdate<T>& by, int64_t size, const T* gradient, T* p, T* m, T* v, void* stream) {
  if (size == 0) return;
  update<<<blocks_for(size), threads, 0, static_cast<cudaStream_t>(stream)>>>(by, size, gradient, p, m, v);
  check(cudaGetLastError());
}

template <class T>
void update_runs_on_gpu(const AdamUpdate<T>* by, int64_t runs, int64_t size, const T* gradient, T* p, T* m,
                        T* v, void* stream) {
  if (size == 0 || runs == 0) return;
  const dim3 grid(blocks_for(size), static_cast<unsigned>(runs));
  update_runs<<<grid, threads, 0, static_cast<cudaStream_t>(stream)>>>(by, size, gradient, p, m, v);
  check(cudaGetLastError());
}

template void update_on_gpu(const AdamUpdate<float>&, int64_t, const float*, float*, float*, float*, void*);
template void update_on_gpu(const AdamUpdate<double>&, int64_t, const double*, double*, double*, double*,
                            void*);
template void update_runs_on_gpu(const AdamUpdate<float>*, int64_t, int64_t, const float*, float*, float*,
                                 float*, void*);
template void update_runs_on_gpu(const AdamUpdate<double>*, int64_t, int64_t, const double*, double*, double*,
                                 double*, void*);

}  // namespace eignn
