// Error checks and launches shared by our CUDA kernels.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "eignn/error.h"

namespace eignn {

inline void check(cudaError_t status) {
  if (status != cudaSuccess)
    throw ResourceError(std::string("a CUDA kernel failed: ") + cudaGetErrorString(status), "device cuda",
                        "check the device, or use device cpu");
}

/// Whether the kernels were compiled for the current GPU, see CMakeLists.txt.
inline bool has_our_kernels() {
  constexpr int compiled_from = 8;  // compute capability
  int device = 0, major = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  return major >= compiled_from;
}

/// Whether the current GPU supports cooperative launches, in which the blocks of a grid can synchronise.
inline bool has_cooperative_launch() {
  int device = 0, together = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&together, cudaDevAttrCooperativeLaunch, device));
  return together != 0;
}

/// Launches a kernel that synchronises its grid, with as many blocks as wanted, but no more than can be
/// resident at once.
template <class... Arguments>
void launch_cooperative(void (*kernel)(Arguments...), int64_t wanted_blocks, int threads, void* stream,
                        Arguments... given) {
  int device = 0, processors = 0, blocks_each = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_each, kernel, threads, 0));
  const int64_t blocks = std::min<int64_t>(wanted_blocks, int64_t{processors} * blocks_each);
  void* arguments[] = {&given...};
  check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel),
                                    dim3(static_cast<unsigned>(blocks)), dim3(static_cast<unsigned>(threads)),
                                    arguments, 0, static_cast<cudaStream_t>(stream)));
}

}  // namespace eignn
