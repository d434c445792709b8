// How the GPU multiplies float32 matrices: in full precision, or five times faster with operands rounded to
// TF32 (10 bits of mantissa).
#pragma once

#include <ATen/Context.h>

namespace eignn {

/// Sets the mode and restores the previous one on destruction. No effect on a CPU.
class ProductsInTf32 {
 public:
  explicit ProductsInTf32(bool on) : before_(at::globalContext().allowTF32CuBLAS()) {
    at::globalContext().setAllowTF32CuBLAS(on);
  }
  ~ProductsInTf32() { at::globalContext().setAllowTF32CuBLAS(before_); }
  ProductsInTf32(const ProductsInTf32&) = delete;
  ProductsInTf32& operator=(const ProductsInTf32&) = delete;

 private:
  bool before_;
};

/// The factor by which a sweep of an iterative solver in TF32 is expected to reduce the residual. The
/// residual is recomputed in full precision between sweeps, so that the final bound holds all the same.
constexpr double tf32_reduction = 2e-3;

}  // namespace eignn
