// OpenBLAS keeps threads of its own beside libtorch's.
#pragma once

namespace eignn {

/// Threads of OpenBLAS; nothing happens when libtorch brings another BLAS, which follows libtorch's own
/// setting.
void set_blas_threads(int threads);

/// One BLAS thread for as long as it lives: where our own loops are the parallel ones, both pools would fight
/// for the cores.
class SingleThreadedBlas {
 public:
  SingleThreadedBlas();
  ~SingleThreadedBlas();
  SingleThreadedBlas(const SingleThreadedBlas&) = delete;
  SingleThreadedBlas& operator=(const SingleThreadedBlas&) = delete;

 private:
  int before_;
};

}  // namespace eignn
