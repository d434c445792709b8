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

namespace {

// On OpenMP its threads are libtorch's: to hold them back would hold our own loops back.
bool has_threads_of_its_own() {
  constexpr int openmp = 2;
  return openblas_get_parallel && openblas_get_parallel() != openmp;
}

// OpenBLAS counts its threads for the whole process: the first to hold them back remembers how many there
// were, the last to leave gives them back.
std::mutex held_back_mutex;
int held_back = 0, threads_before = 1;

}  // namespace

SingleThreadedBlas::SingleThreadedBlas() {
  if (!has_threads_of_its_own()) return;
  const std::lock_guard<std::mutex> lock(held_back_mutex);
  if (held_back++ > 0) return;
  threads_before = openblas_get_num_threads ? openblas_get_num_threads() : 1;
  set_blas_threads(1);
}

SingleThreadedBlas::~SingleThreadedBlas() {
  if (!has_threads_of_its_own()) return;
  const std::lock_guard<std::mutex> lock(held_back_mutex);
  if (--held_back == 0) set_blas_threads(threads_before);
}

// Of this thread alone where libtorch's threads are OpenMP's: at::set_num_threads would also be what a thread
// that starts just now begins with.
SingleThread::SingleThread() : before_(at::get_num_threads()) {
  if (at::hasMKL())
    at::set_num_threads(1);
  else
    omp_set_num_threads(1);
}

SingleThread::~SingleThread() {
  if (at::hasMKL())
    at::set_num_threads(before_);
  else
    omp_set_num_threads(before_);
}

}  // namespace eignn
