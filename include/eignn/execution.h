// How much of the machine a call may use, for as long as it runs.
#pragma once

#include <cstdint>

#include "eignn/options.h"

namespace eignn {

/// Sets the threads of the calling thread's libtorch and BLAS work, takes TF32 on a GPU in hand, and puts
/// back what was there when it ends. Training, prediction and attacks make one for themselves; whoever calls
/// a solver directly may make one too:
///
///     eignn::Execution execution({/*threads=*/2});
///     auto Z = solver->solve(F, X)->rows().plain();
///
/// Threads are a setting of the calling thread. TF32, and the threads of an OpenBLAS that has a pool of its
/// own, are settings of the process: an execution that cannot share them with one that is running is refused
/// with an ArgumentError, and the last one to end puts them back.
class Execution {
 public:
  struct Options {
    int64_t threads = 0;  // 0: all cores
    bool tf32 = false;    // a GPU's products may round to TF32 where the work says so
  };
  explicit Execution(const Options& options);
  /// What a run's configuration asks for; with a GPU, 0 threads are one: what is left for the CPU is small
  /// problems, which more threads slow down.
  explicit Execution(const TrainConfig& config);
  ~Execution();
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  int64_t threads() const { return threads_; }

 private:
  int64_t threads_;
  int threads_before_;
};

}  // namespace eignn
