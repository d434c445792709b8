#include "equilibrium/blas_threads.h"

#include <ATen/Parallel.h>

extern "C" void openblas_set_num_threads(int) __attribute__((weak));
extern "C" int openblas_get_num_threads() __attribute__((weak));
extern "C" int openblas_get_parallel() __attribute__((weak));

namespace eignn {

void set_blas_threads(int threads) {
  if (openblas_set_num_threads) openblas_set_num_threads(threads);
}

int blas_threads() {
  return openblas_get_num_threads ? openblas_get_num_threads() : 1;
}

bool blas_has_threads_of_its_own() {
  constexpr int openmp = 2;
  return openblas_get_parallel && openblas_get_parallel() != openmp;
}

SingleThreadedBlas::SingleThreadedBlas() : before_(blas_threads()) {
  if (blas_has_threads_of_its_own()) set_blas_threads(1);
}

SingleThreadedBlas::~SingleThreadedBlas() {
  if (blas_has_threads_of_its_own()) set_blas_threads(before_);
}

SingleThread::SingleThread() : before_(at::get_num_threads()) {
  at::set_num_threads(1);
}

SingleThread::~SingleThread() {
  at::set_num_threads(before_);
}

}  // namespace eignn
