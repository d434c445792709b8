// The thread counts of OpenBLAS, which may have a thread pool of its own, and of libtorch.
#pragma once

namespace eignn {

/// The threads of OpenBLAS. A BLAS that comes with libtorch follows libtorch's setting instead, and then
/// OpenBLAS is used for eigendecompositions alone.
void set_blas_threads(int threads);
int blas_threads();
/// False where OpenBLAS runs on OpenMP: its threads are then libtorch's and follow the calling thread's
/// setting.
bool blas_has_threads_of_its_own();

/// Sets the threads of libtorch's own loops, for the calling thread alone where libtorch runs on OpenMP
/// without MKL.
void set_threads_of_this_thread(int threads);

/// Keeps OpenBLAS at one thread while an instance lives in the process: where our own loops are parallel, two
/// thread pools would compete for the cores. Does nothing where OpenBLAS runs on OpenMP, since there is only
/// one pool.
class SingleThreadedBlas {
 public:
  SingleThreadedBlas();
  ~SingleThreadedBlas();
  SingleThreadedBlas(const SingleThreadedBlas&) = delete;
  SingleThreadedBlas& operator=(const SingleThreadedBlas&) = delete;
};

/// Keeps libtorch and every BLAS at one thread in the calling thread during its lifetime, for problems so
/// small that waking other threads costs more than they save.
class SingleThread {
 public:
  SingleThread();
  ~SingleThread();
  SingleThread(const SingleThread&) = delete;
  SingleThread& operator=(const SingleThread&) = delete;

 private:
  SingleThreadedBlas blas_;
  int before_;
};

}  // namespace eignn
