#include "equilibrium/deflation.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "equilibrium/blas_threads.h"

extern "C" void dpstrf_(const char* uplo, const int* n, double* a, const int* lda, int* piv, int* rank,
                        const double* tol, double* work, int* info, size_t);
extern "C" void dtrtri_(const char* uplo, const char* diag, const int* n, double* a, const int* lda,
                        int* info, size_t, size_t);

namespace eignn {

namespace {

constexpr int blocks = 5;
constexpr int64_t most_columns = 16, features_per_column = 16;  // of a block

// A Gaussian matrix that is the same in every call. Cached per thread, since every training step needs it.
torch::Tensor fixed_start(int64_t m, int64_t width, const torch::TensorOptions& type) {
  thread_local torch::Tensor start;
  const auto fits = [&] {
    return start.defined() && start.sizes() == torch::IntArrayRef({m, width}) &&
           start.scalar_type() == type.dtype() && start.device() == type.device();
  };
  if (!fits()) start = torch::randn({m, width}, at::detail::createCPUGenerator(0), torch::kFloat64).to(type);
  return start;
}

// C such that Y C is orthonormal, from the pivoted Cholesky factor of YᵀY. Columns of Y that depend nearly
// linearly on the others are left out.
torch::Tensor orthonormaliser(const torch::Tensor& YtY) {
  const SingleThread guard;  // matrices of 80 columns
  const int n = static_cast<int>(YtY.size(0));
  auto factor = YtY.clone();
  double* L = factor.data_ptr<double>();
  std::vector<double> length(n), work(2 * n);  // the columns of Y are scaled to unit length
  for (int i = 0; i < n; ++i) length[i] = std::sqrt(std::max(L[i * n + i], 1e-300));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) L[i * n + j] /= length[i] * length[j];
  // The factor is U in Fortran's column-major order, with UᵀU = PᵀAP for the scaled YᵀY =: A.
  const double nothing = 1e-9;  // relative to the squared length of a column
  std::vector<int> pivot(n);
  int rank = 0, info = 0;
  dpstrf_("U", &n, L, &n, pivot.data(), &rank, &nothing, work.data(), &info, 1);
  dtrtri_("U", "N", &rank, L, &n, &info, 1, 1);
  auto C = torch::zeros({n, rank}, torch::kFloat64);
  double* c = C.data_ptr<double>();
  for (int j = 0; j < rank; ++j)  // column j of U⁻¹
    for (int i = 0; i <= j; ++i) c[(pivot[i] - 1) * rank + j] = L[j * n + i] / length[pivot[i] - 1];
  return C;
}

std::tuple<torch::Tensor, torch::Tensor> eigen(const torch::Tensor& A) {
  const SingleThread guard;
  return torch::linalg_eigh(A);
}

}  // namespace

Deflation deflate(const Contraction& contraction) {
  const auto& gram = contraction.gram();
  const int64_t m = gram.size(0), width = std::min(most_columns, m / features_per_column);
  if (width == 0) {
    contraction.nu();  // throws where ν is not finite
    return {};
  }
  // Powers of FᵀF/ν times the start. The largest eigenvalue lies in [1/√m, 1], so that they stay in range.
  std::vector<torch::Tensor> powers = {fixed_start(m, width, gram.options())};
  for (int power = 0; power < blocks; ++power)
    powers.push_back(gram.mm(powers.back() / contraction.nu_on_device()));
  // In float64, because the powers are nearly linearly dependent: they differ by far less than float32's
  // 1e-7.
  const auto Y =
      torch::cat(std::vector<torch::Tensor>(powers.begin() + 1, powers.end()), 1).to(torch::kFloat64);
  const auto YtY = Y.t().mm(Y);
  if (!(contraction.nu() > 0)) return {};
  const auto V = Y.mm(orthonormaliser(YtY.to(torch::kCPU)).to(Y.device())).to(gram.scalar_type());
  const auto gram_V = gram.mm(V);
  const auto [sigma, U] = eigen(V.t().mm(gram_V).to(torch::kCPU, torch::kFloat64));
  const auto turn = U.to(V.options());
  return {V.mm(turn), gram_V.mm(turn), sigma / (contraction.nu() + contraction.epsilon())};
}

}  // namespace eignn
