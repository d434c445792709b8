#include "train/adam_kernel.h"

#include <cuda_runtime.h>

#include "equilibrium/cuda_status.h"

namespace eignn {

namespace {

constexpr int threads = 256;

template <class T>
__global__ void __launch_bounds__(threads)
    update(AdamUpdate<T> by, int64_t size, const T* gradient, T* p, T* m, T* v) {
  const int64_t k = blockIdx.x * static_cast<int64_t>(threads) + threadIdx.x;
  if (k < size) by(gradient[k], p[k], m[k], v[k]);
}

}  // namespace

bool updates_on_gpu() {
  return has_our_kernels();
}

template <class T>
void update_on_gpu(const AdamUpdate<T>& by, int64_t size, const T* gradient, T* p, T* m, T* v, void* stream) {
  if (size == 0) return;
  const auto blocks = static_cast<unsigned>((size + threads - 1) / threads);
  update<<<blocks, threads, 0, static_cast<cudaStream_t>(stream)>>>(by, size, gradient, p, m, v);
  check(cudaGetLastError());
}

template void update_on_gpu(const AdamUpdate<float>&, int64_t, const float*, float*, float*, float*, void*);
template void update_on_gpu(const AdamUpdate<double>&, int64_t, const double*, double*, double*, double*,
                            void*);

}  // namespace eignn
