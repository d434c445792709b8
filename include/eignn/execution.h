// The threads and the precision of products that computations use.
#pragma once

#include <cstdint>

#include "eignn/options.h"

namespace eignn {

/// Sets the number of threads for the libtorch and BLAS work of the calling thread, controls TF32 on a GPU,
/// and restores the previous settings in its destructor. Training and prediction create one themselves; code
/// that calls a solver directly may create one too:
///
///     eignn::Execution execution({/*threads=*/2});
///     auto Z = solver->solve(F, X)->rows().plain();
///
/// Threads are a setting of the calling thread. TF32, which work on a CPU does not touch, and the threads of
/// an OpenBLAS that has a thread pool of its own, are settings of the process: an execution that cannot share
/// them with another one that exists is refused with an ArgumentError, and the last one to end restores them.
class Execution {
 public:
  struct Options {
    int64_t threads = 0;  // 0: all cores
    bool tf32 = false;    // a GPU may round products to TF32 where a training step or solver requests it
    DeviceKind device = DeviceKind::cpu;  // on cuda products are in full precision unless `tf32` is on
  };
  explicit Execution(const Options& options);
  /// The threads and TF32 of a run's configuration. With a GPU 0 threads mean one, since only small problems
  /// are left for the CPU, which more threads slow down.
  explicit Execution(const TrainConfig& config);
  ~Execution();
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  int64_t threads() const { return threads_; }

 private:
  int64_t threads_;
  int threads_before_;
  bool on_gpu_;
};

}  // namespace eignn
