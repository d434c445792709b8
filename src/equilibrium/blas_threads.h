// OpenBLAS keeps threads of its own beside libtorch's.
#pragma once

namespace eignn {

/// Threads of OpenBLAS. Where libtorch brings another BLAS, that follows libtorch's own setting, and OpenBLAS
/// serves the eigendecompositions alone.
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
