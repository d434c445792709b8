#include "eignn/execution.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <thread>

#include "eignn/error.h"
#include "equilibrium/blas_threads.h"

namespace eignn {

namespace {

// The settings of the process, and how many executions share them.
struct ProcessSettings {
  std::mutex mutex;
  int64_t running = 0, on_gpu = 0;
  bool tf32 = false, tf32_before = false;
  int blas_threads = 0, blas_threads_before = 0;
};

ProcessSettings& process() {
  static ProcessSettings settings;
  return settings;
}

// Whether an execution needs to know how the GPU rounds. Work on a CPU has no TF32, and leaves the setting
// alone.
bool needs_gpu_setting(const Execution::Options& options) {
  return options.tf32 || options.device == DeviceKind::cuda;
}

void enter(const Execution::Options& options, int threads) {
  const bool tf32 = options.tf32;
  ProcessSettings& settings = process();
  const std::lock_guard<std::mutex> lock(settings.mutex);
  const bool own_pool = blas_has_threads_of_its_own();
  if (settings.running > 0) {
    // A training step in TF32 switches the setting of the whole process on and off.
    if (settings.tf32 || tf32)
      throw ArgumentError("tf32", "TF32 is a setting of the process, and another call of it is running",
                          "wait until that has ended, or compute in full precision");
    if (own_pool && settings.blas_threads != threads)
      throw ArgumentError(
          "threads",
          fmt::format("another call of this process has OpenBLAS on {} threads", settings.blas_threads),
          "use the same number, or an OpenBLAS on OpenMP");
  } else {
    settings.tf32 = tf32;
    settings.blas_threads = threads;
    settings.blas_threads_before = blas_threads();
    if (own_pool) set_blas_threads(threads);
  }
  if (needs_gpu_setting(options) && settings.on_gpu++ == 0) {
    settings.tf32_before = at::globalContext().allowTF32CuBLAS();
    at::globalContext().setAllowTF32CuBLAS(false);  // until a training step switches it on
  }
  ++settings.running;
}

void leave(bool on_gpu) {
  ProcessSettings& settings = process();
  const std::lock_guard<std::mutex> lock(settings.mutex);
  if (on_gpu && --settings.on_gpu == 0) at::globalContext().setAllowTF32CuBLAS(settings.tf32_before);
  if (--settings.running > 0) return;
  if (blas_has_threads_of_its_own()) set_blas_threads(settings.blas_threads_before);
}

int64_t cores() {
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace

Execution::Execution(const Options& options)
    : threads_(options.threads > 0 ? options.threads : cores()),
      threads_before_(at::get_num_threads()),
      on_gpu_(needs_gpu_setting(options)) {
  if (options.threads < 0)
    throw ArgumentError("threads", fmt::format("{} is out of range", options.threads), "give 0 or more");
  enter(options, static_cast<int>(threads_));
  // get_num_threads() above initialised this thread's count from the process's; the count set here replaces
  // it.
  set_threads_of_this_thread(static_cast<int>(threads_));
}

Execution::Execution(const TrainConfig& config)
    : Execution(Options{config.threads == 0 && config.device != DeviceKind::cpu ? 1 : config.threads,
                        config.tf32, config.device}) {}

Execution::~Execution() {
  set_threads_of_this_thread(threads_before_);
  leave(on_gpu_);
}

}  // namespace eignn
