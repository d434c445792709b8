#include <torch/torch.h>

#include <thread>

#include "eignn/training.h"

// OpenBLAS keeps its own pool beside libtorch's; absent when libtorch brings another BLAS.
extern "C" void openblas_set_num_threads(int) __attribute__((weak));

namespace eignn {

int64_t use_threads(int64_t threads) {
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  torch::set_num_threads(static_cast<int>(threads));
  if (openblas_set_num_threads) openblas_set_num_threads(static_cast<int>(threads));
  return threads;
}

}  // namespace eignn
