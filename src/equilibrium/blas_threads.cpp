#include "equilibrium/blas_threads.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <omp.h>

#include <mutex>

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

namespace {
// OpenBLAS has one thread count for the whole process: the first instance saves it, the last one restores it.
std::mutex guards_mutex;
int guards = 0, threads_before = 1;
}  // namespace

SingleThreadedBlas::SingleThreadedBlas() {
  if (!blas_has_threads_of_its_own()) return;
  const std::lock_guard<std::mutex> lock(guards_mutex);
  if (guards++ > 0) return;
  threads_before = blas_threads();
  set_blas_threads(1);
}

SingleThreadedBlas::~SingleThreadedBlas() {
  if (!blas_has_threads_of_its_own()) return;
  const std::lock_guard<std::mutex> lock(guards_mutex);
  if (--guards == 0) set_blas_threads(threads_before);
}

// Without MKL omp_set_num_threads is enough. at::set_num_threads would also set the count with which threads
// created later start.
void set_threads_of_this_thread(int threads) {
  if (at::hasMKL())
    at::set_num_threads(threads);
  else
    omp_set_num_threads(threads);
}

SingleThread::SingleThread() : before_(at::get_num_threads()) {
  set_threads_of_this_thread(1);
}

SingleThread::~SingleThread() {
  set_threads_of_this_thread(before_);
}

}  // namespace eignn
