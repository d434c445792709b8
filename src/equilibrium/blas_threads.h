// OpenBLAS may keep threads of its own beside libtorch's.
#pragma once

namespace eignn {

/// Threads of OpenBLAS. Where libtorch brings another BLAS, that follows libtorch's own setting, and OpenBLAS
/// serves the eigendecompositions alone.
void set_blas_threads(int threads);
int blas_threads();
/// On OpenMP its threads are libtorch's, and follow the calling thread's setting.
bool blas_has_threads_of_its_own();

/// Of libtorch's own loops: of the calling thread alone where they are on OpenMP and there is no MKL.
void set_threads_of_this_thread(int threads);

/// One BLAS thread for as long as one of these lives in the process: where our own loops are the parallel
/// ones, both pools would fight for the cores. Nothing to do where there is one pool, that of OpenMP.
class SingleThreadedBlas {
 public:
  SingleThreadedBlas();
  ~SingleThreadedBlas();
  SingleThreadedBlas(const SingleThreadedBlas&) = delete;
  SingleThreadedBlas& operator=(const SingleThreadedBlas&) = delete;
};

/// One thread for libtorch and every BLAS in what this thread does, for as long as it lives: for problems so
/// small that waking others costs more than they do.
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
