#include "equilibrium/blas_threads.h"

#include <ATen/Parallel.h>

extern "C" void openblas_set_num_threads(int) __attribute__((weak));
extern "C" int openblas_get_num_threads() __attribute__((weak));
extern "C" int openblas_get_parallel() __attribute__((weak));

namespace eignn {

void set_blas_threads(int threads) {
  if (openblas_set_num_threads) openblas_set_num_threads(threads);
}

namespace {

// On OpenMP its threads are libtorch's: to hold them back would hold our own loops back.
bool has_threads_of_its_own() {
  constexpr int openmp = 2;
  return openblas_get_parallel && openblas_get_parallel() != openmp;
}

}  // namespace

SingleThreadedBlas::SingleThreadedBlas()
    : before_(openblas_get_num_threads ? openblas_get_num_threads() : 1) {
  if (has_threads_of_its_own()) set_blas_threads(1);
}

SingleThreadedBlas::~SingleThreadedBlas() {
  if (has_threads_of_its_own()) set_blas_threads(before_);
}

SingleThread::SingleThread() : before_(at::get_num_threads()) {
  at::set_num_threads(1);
}

SingleThread::~SingleThread() {
  at::set_num_threads(before_);
}

}  // namespace eignn
