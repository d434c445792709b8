// How the GPU multiplies float32 matrices: in full, or with operands rounded to TF32 (10 bits), five times
// faster.
#pragma once

#include <ATen/Context.h>

namespace eignn {

/// Sets it for as long as this lives. No effect on a CPU.
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

/// What a sweep of an iterative solver in TF32 may hope to take off a residual. The residual itself is
/// recomputed in full precision between sweeps, so that the bound it stops at is proven all the same.
constexpr double tf32_reduction = 2e-3;

}  // namespace eignn
