#include "equilibrium/symmetric_eigen.h"

#include <torch/torch.h>

#include "eignn/error.h"

namespace eignn {

std::pair<torch::Tensor, torch::Tensor> symmetric_eigen(const torch::Tensor& A) {
  // LAPACK's ssyevd reports its work space, 1 + 6n + 2n² numbers, as a float: past 2^24 it asks for too
  // little and libtorch fails. Those few are decomposed in double.
  constexpr int64_t float_work_space_fits = 2048;
  if (A.is_cpu() && A.scalar_type() == torch::kFloat32 && A.size(0) > float_work_space_fits) {
    const auto [values, vectors] = symmetric_eigen(A.to(torch::kFloat64));
    return {values.to(torch::kFloat32), vectors.to(torch::kFloat32)};
  }
  try {
    auto [values, vectors] = torch::linalg_eigh(A);
    return {values, vectors};
  } catch (const c10::Error&) {
    if (torch::isfinite(A).all().item<bool>()) throw;
    throw InputError(
        "the weights are out of range (eigendecomposition of g); scale F down, or lower --lr in training");
  }
}

}  // namespace eignn
