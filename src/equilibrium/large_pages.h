#pragma once

#include <sys/mman.h>
#include <torch/types.h>

#include <cstdint>

namespace eignn {

/// Memory not yet touched, in pages of 2 MiB where the system gives them to those who ask: whole matrices are
/// strided over, and 4 KiB pages cost some 5 % in address translation, and more in being handed out.
/// Elsewhere than on the CPU plain memory.
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
