// What our CUDA kernels share.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace eignn {

inline void check(cudaError_t status) {
  if (status != cudaSuccess)
    throw std::runtime_error(std::string("a CUDA kernel failed: ") + cudaGetErrorString(status));
}

/// Whether the kernels were compiled for the current GPU, see CMakeLists.txt.
inline bool has_our_kernels() {
  constexpr int compiled_from = 8;  // compute capability
  int device = 0, major = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  return major >= compiled_from;
}

}  // namespace eignn
