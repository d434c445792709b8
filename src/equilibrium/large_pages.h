#pragma once

#include <sys/mman.h>
#include <torch/types.h>

#include <cstdint>

namespace eignn {

/// Uninitialised memory, on the CPU in pages of 2 MiB where the system grants them (madvise). Passes over
/// whole matrices lose some 5 % to address translation with 4 KiB pages, and more to page faults.
inline torch::Tensor in_large_pages(torch::IntArrayRef sizes, const torch::TensorOptions& options) {
  constexpr uintptr_t page = uintptr_t{2} << 20;
  auto memory = torch::empty(sizes, options);
  const auto begin = reinterpret_cast<uintptr_t>(memory.data_ptr()), end = begin + memory.nbytes();
  const uintptr_t first = (begin + page - 1) / page * page;
  if (memory.is_cpu() && first < end)
    madvise(reinterpret_cast<void*>(first), (end - first) / page * page, MADV_HUGEPAGE);
  return memory;
}

}  // namespace eignn
