// How the GPU multiplies float32 matrices: in full precision, or five times faster with operands rounded to
// TF32 (10 bits of mantissa).
#pragma once

#include <ATen/Context.h>
#include <torch/types.h>

namespace eignn {

/// Sets the mode for work on this device and restores the previous one on destruction. The mode is a setting
/// of the whole process, so nothing is written for work on a CPU, which has no TF32, nor where the mode is
/// right already: solvers in several threads do not overwrite each other's.
class ProductsInTf32 {
 public:
  ProductsInTf32(bool on, torch::Device device)
      : changes_(device.is_cuda() && at::globalContext().allowTF32CuBLAS() != on), on_(on) {
    if (changes_) at::globalContext().setAllowTF32CuBLAS(on_);
  }
  ~ProductsInTf32() {
    if (changes_) at::globalContext().setAllowTF32CuBLAS(!on_);
  }
  ProductsInTf32(const ProductsInTf32&) = delete;
  ProductsInTf32& operator=(const ProductsInTf32&) = delete;

 private:
  bool changes_, on_;
};

/// The factor by which a sweep of an iterative solver in TF32 is expected to reduce the residual. The
/// residual is recomputed in full precision between sweeps, so that the final bound holds all the same.
constexpr double tf32_reduction = 2e-3;

}  // namespace eignn
