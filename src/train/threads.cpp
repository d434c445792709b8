#include <torch/torch.h>

#include <thread>

#include "eignn/training.h"
#include "equilibrium/blas_threads.h"

namespace eignn {

int64_t use_threads(int64_t threads) {
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  torch::set_num_threads(static_cast<int>(threads));
  set_blas_threads(static_cast<int>(threads));
  return threads;
}

int64_t use_threads(const TrainConfig& config) {
  return use_threads(config.threads == 0 && config.device != "cpu" ? 1 : config.threads);
}

}  // namespace eignn
