// One step of Adam for one number, and a kernel that does it on a GPU in one pass.
#pragma once

#include <cmath>
#include <cstdint>

#ifdef __CUDACC__
#define EIGNN_HERE_AND_THERE __host__ __device__
#else
#define EIGNN_HERE_AND_THERE
#endif

namespace eignn {

/// p ← p - rate m̂ / (√v̂ + ε), with the moments' start corrected for in the numbers.
template <class T>
struct AdamUpdate {
  T beta1, rest1, beta2, rest2;  // rest: 1-β
  T epsilon, decay;
  T rate, root;  // rate/(1-β₁ᵗ), and 1/√(1-β₂ᵗ)

  EIGNN_HERE_AND_THERE void operator()(T gradient, T& p, T& m, T& v) const {
    const T g = gradient + decay * p;
    m = beta1 * m + rest1 * g;
    v = beta2 * v + rest2 * g * g;
    p -= rate * m / (std::sqrt(v) * root + epsilon);
  }
};

/// Whether the current GPU has the kernel.
bool updates_on_gpu();
/// `stream` is a cudaStream_t.
template <class T>
void update_on_gpu(const AdamUpdate<T>& by, int64_t size, const T* gradient, T* p, T* m, T* v, void* stream);

}  // namespace eignn
