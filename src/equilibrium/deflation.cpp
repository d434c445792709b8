#include "equilibrium/deflation.h"

#include <torch/torch.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "equilibrium/blas_threads.h"

extern "C" void dpstrf_(const char* uplo, const int* n, double* a, const int* lda, int* piv, int* rank,
                        const double* tol, double* work, int* info, size_t);

namespace eignn {

namespace {

constexpr int blocks = 5;
constexpr int64_t most_columns = 16, features_per_column = 16;  // of a block

torch::Tensor exact(const torch::Tensor& small) {
  return small.to(torch::kCPU, torch::kFloat64);
}

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

// YᵀY in float64: the powers of g lean on each other, and what tells them apart is far below 1e-7 of it.
torch::Tensor squares(const torch::Tensor& Y) {
  const auto y = Y.to(torch::kFloat64);
  return y.t().mm(y);
}

// Y C with orthonormal columns, for the C it returns: from the Cholesky factor of YᵀY with the largest pivot
// first, up to the columns that have next to nothing of their own.
torch::Tensor orthonormaliser(const torch::Tensor& YtY) {
  const SingleThread guard;                                 // matrices of 80 columns
  const auto d = YtY.diagonal().clamp_min(1e-300).rsqrt();  // columns of unit length first
  const auto L = (d.unsqueeze(1) * YtY * d.unsqueeze(0)).contiguous();
  const int n = static_cast<int>(YtY.size(0));
  const double nothing = 1e-9;  // of the square of a length
  std::vector<int> pivot(n);
  std::vector<double> work(2 * n);
  int rank = 0, info = 0;
  // By columns, as Fortran reads, U; by rows L, and P L Lᵀ Pᵀ = YᵀY.
  dpstrf_("U", &n, L.data_ptr<double>(), &n, pivot.data(), &rank, &nothing, work.data(), &info, 1);
  std::vector<int64_t> kept;
  for (int k = 0; k < rank; ++k) kept.push_back(pivot[k] - 1);
  const auto corner = L.narrow(0, 0, rank).narrow(1, 0, rank);
  const auto inverse =
      torch::linalg_solve_triangular(corner.t(), torch::eye(rank, L.options()), /*upper=*/true);
  return d.unsqueeze(1) * torch::zeros({n, rank}, L.options()).index_copy_(0, torch::tensor(kept), inverse);
}

// C U with U the eigenvectors of Cᵀ A C, and their eigenvalues.
std::pair<torch::Tensor, torch::Tensor> ritz(const torch::Tensor& A, const torch::Tensor& C) {
  const SingleThread guard;
  const auto [theta, U] = torch::linalg_eigh(C.t().mm(A).mm(C));
  return {C.mm(U), theta};
}

}  // namespace

Deflation deflate(const torch::Tensor& gram, const torch::Tensor& scale) {
  const int64_t m = gram.size(0), width = std::min(most_columns, m / features_per_column);
  if (width == 0) return {};
  // Powers of FᵀF/ν on the start: its largest eigenvalue is 1/√m at least, so that they stay in range.
  const auto nu = gram.norm();
  if (!(nu.item<double>() > 0)) return {};
  std::vector<torch::Tensor> powers = {fixed_start(m, width, gram.options())};
  for (int power = 0; power < blocks; ++power) powers.push_back(gram.mm(powers.back() / nu));
  const auto Y = torch::cat(std::vector<torch::Tensor>(powers.begin() + 1, powers.end()), 1);
  // Twice: after the first time V is orthonormal to what float32 left of the weakest direction.
  const auto V = Y.mm(orthonormaliser(exact(squares(Y))).to(Y.options())), gV = gram.mm(V / nu);
  const auto both = exact(torch::stack({squares(V), V.t().mm(gV).to(torch::kFloat64)}));
  const auto [CU, theta] = ritz(both[1], orthonormaliser(both[0]));
  const auto turn = CU.to(Y.options());
  return {V.mm(turn), gV.mm(turn) * nu, theta.to(Y.options()) * (nu * scale)};
}

}  // namespace eignn
