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

// Gaussian, always the same; drawn once, since a training step asks for it again and again.
torch::Tensor fixed_start(int64_t m, int64_t width, const torch::TensorOptions& type) {
  thread_local torch::Tensor start;
  const auto fits = [&] {
    return start.defined() && start.sizes() == torch::IntArrayRef({m, width}) &&
           start.scalar_type() == type.dtype() && start.device() == type.device();
  };
  if (!fits()) start = torch::randn({m, width}, at::detail::createCPUGenerator(0), torch::kFloat64).to(type);
  return start;
}

// C with orthonormal Y C, given YᵀY: from the Cholesky factor with the largest pivot first, up to the columns
// that have next to nothing of their own.
torch::Tensor orthonormaliser(const torch::Tensor& YtY) {
  const SingleThread guard;  // matrices of 80 columns
  const int n = static_cast<int>(YtY.size(0));
  auto factor = YtY.clone();
  double* L = factor.data_ptr<double>();
  std::vector<double> length(n), work(2 * n);  // columns of unit length first
  for (int i = 0; i < n; ++i) length[i] = std::sqrt(std::max(L[i * n + i], 1e-300));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) L[i * n + j] /= length[i] * length[j];
  // By columns, as Fortran reads, U; by rows L, and P L Lᵀ Pᵀ is YᵀY with those lengths.
  const double nothing = 1e-9;  // of the square of a length
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
    contraction.nu();  // is it finite?
    return {};
  }
  // Powers of FᵀF/ν on the start: its largest eigenvalue is 1/√m at least, so that they stay in range.
  std::vector<torch::Tensor> powers = {fixed_start(m, width, gram.options())};
  for (int power = 0; power < blocks; ++power)
    powers.push_back(gram.mm(powers.back() / contraction.nu_on_device()));
  // In float64: the powers lean on each other, and what tells them apart is far below 1e-7 of them.
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
