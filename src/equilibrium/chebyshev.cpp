#include "equilibrium/chebyshev.h"

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <cmath>

#include "equilibrium/thin_kernel.h"

#ifdef EIGNN_HAVE_CUDA
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "equilibrium/chain_kernel.h"
#endif

namespace eignn {

namespace {

// (terms, b, k, m) → (b, terms·k, m)
torch::Tensor stacked(const torch::Tensor& P) {
  return P.transpose(0, 1).reshape({P.size(1), P.size(0) * P.size(2), P.size(3)});
}

// to += P A, (b, k, m) times (b, m, m).
void add_product_(torch::Tensor& to, const torch::Tensor& P, const torch::Tensor& A) {
  constexpr int64_t thin = 32;
  if (!A.is_cpu() || P.size(1) > thin) {
    to.baddbmm_(P, A);
    return;
  }
  const int64_t k = P.size(1), m = P.size(2);
  constexpr int64_t grain = 128;  // columns: the least work for a thread
  for (int64_t run = 0; run < P.size(0); ++run)
    AT_DISPATCH_FLOATING_TYPES(A.scalar_type(), "add_product_", [&] {
      const auto *p = P[run].data_ptr<scalar_t>(), *a = A[run].data_ptr<scalar_t>();
      auto* out = to[run].data_ptr<scalar_t>();
      at::parallel_for(0, m, grain,
                       [&](int64_t first, int64_t last) { add_thin_product(k, m, p, a, out, first, last); });
    });
}
void add_product_(torch::Tensor to, const torch::Tensor& P, const TwiceArgument& argument) {
  if (!argument.factor.defined()) return add_product_(to, P, argument.matrix);
  to.sub_(P, 2);
  add_product_(to, P * argument.factor, argument.matrix);
}

// Runs the whole recurrence (P_1 … from P_0, or the cotangents C backwards) in one GPU kernel. Returns false
// where no kernel fits, and then nothing was done.
#ifdef EIGNN_HAVE_CUDA
template <class Kernel>
bool done_in_one_kernel(const torch::Tensor& P, const TwiceArgument& argument, bool apart,
                        const Kernel& kernel) {
  if (!P.is_cuda() || argument.factor.defined()) return false;
  const c10::cuda::CUDAGuard guard(P.device());
  const ChainShape shape{P.size(0), P.size(1), P.size(2), P.size(3), apart};
  if (!chain_fits_on_gpu(shape, static_cast<int64_t>(P.element_size()))) return false;
  const auto A = argument.matrix.contiguous();
  void* stream = c10::cuda::getCurrentCUDAStream().stream();
  AT_DISPATCH_FLOATING_TYPES(P.scalar_type(), "chain",
                             [&] { kernel(P.data_ptr<scalar_t>(), A.data_ptr<scalar_t>(), shape, stream); });
  return true;
}
bool ran_in_one_kernel(const torch::Tensor& P, const TwiceArgument& argument, bool apart) {
  return done_in_one_kernel(P, argument, apart,
                            [](auto* p, const auto* a, const ChainShape& shape, void* stream) {
                              run_chain_on_gpu(p, a, shape, stream);
                            });
}
bool pulled_in_one_kernel(const torch::Tensor& C, const TwiceArgument& argument, bool apart) {
  return done_in_one_kernel(C, argument, apart,
                            [](auto* c, const auto* a, const ChainShape& shape, void* stream) {
                              pull_chain_on_gpu(c, a, shape, stream);
                            });
}
#else
bool ran_in_one_kernel(const torch::Tensor&, const TwiceArgument&, bool) {
  return false;
}
bool pulled_in_one_kernel(const torch::Tensor&, const TwiceArgument&, bool) {
  return false;
}
#endif

}  // namespace

int64_t chebyshev_terms(double gamma, double tolerance) {
  // λ = 1 is the worst: q grows with a, and at λ < 0 it is smaller than at -λ.
  const double root = std::sqrt(1 - gamma), q = (gamma / 2) / (1 - gamma / 2 + root);
  const double first = 2 / (root * (1 - q));  // the rest from the term p on is first · q^p
  return std::max<int64_t>(2, static_cast<int64_t>(std::ceil(std::log(tolerance / first) / std::log(q))));
}

torch::Tensor chebyshev_coefficients(const torch::Tensor& lambda, double gamma, int64_t terms) {
  const auto a = gamma * lambda.to(torch::kFloat64);
  const auto root = (1 - a).sqrt(), q = (a / 2) / (1 - a / 2 + root);
  auto p = torch::arange(terms, a.options());
  auto alpha = 2 / root.unsqueeze(1) * torch::pow(q.unsqueeze(1), p);
  alpha.select(1, 0).div_(2);
  return alpha.to(lambda.scalar_type());
}

TwiceArgument::TwiceArgument(const torch::Tensor& gram, const torch::Tensor& scale)
    : matrix(gram.unsqueeze(0)), factor(4 * scale) {
  if (gram.is_cpu()) return;
  matrix = twice_argument_of(matrix, scale);
  factor = torch::Tensor();
}

torch::Tensor twice_argument_of(const torch::Tensor& gram, const torch::Tensor& scale) {
  auto out = gram * (4 * scale);
  out.diagonal(0, 1, 2).sub_(2);
  return out;
}

void ChebyshevChain::run(const torch::Tensor& P0, const TwiceArgument& argument) {
  P[0].copy_(P0);
  if (ran_in_one_kernel(P, argument, recorded_)) return;
  P[1].zero_();
  add_product_(P[1], P[0], argument);
  P[1].mul_(0.5);                            // T_1(x) = x
  for (int64_t p = 2; p < P.size(0); ++p) {  // T_p(x) = 2x T_{p-1}(x) - T_{p-2}(x)
    torch::Tensor next = P[p];
    torch::neg_out(next, P[p - 2]);
    add_product_(next, P[p - 1], argument);
  }
}

ChebyshevChain::Pulled ChebyshevChain::pull(torch::Tensor cotangent, const TwiceArgument& argument) const {
  const auto C = cotangent.contiguous();
  if (!pulled_in_one_kernel(C, argument, recorded_)) {
    for (int64_t p = P.size(0) - 1; p >= 2; --p) {
      add_product_(C[p - 1], C[p], argument);
      C[p - 2].sub_(C[p]);
    }
    C[1].mul_(0.5);
    add_product_(C[0], C[1], argument);
  }
  const int64_t last = P.size(0) - 1;
  return {C[0], stacked(P.narrow(0, 0, last)), 4 * stacked(C.narrow(0, 1, last))};  // 4 = ∂ 2(2g - I) / ∂g
}

torch::Tensor chebyshev_sum(const torch::Tensor& X_hat, const torch::Tensor& alpha, const torch::Tensor& P) {
  const auto rows = P.flatten(0, -2);
  const auto by_term = X_hat.mm(rows.t()).view({-1, alpha.size(1), rows.size(0) / alpha.size(1)});
  return (by_term * alpha.unsqueeze(2)).sum(1);
}

torch::Tensor pull_chebyshev_sum(const torch::Tensor& X_hat, const torch::Tensor& alpha,
                                 const torch::Tensor& D) {
  const auto weighted = (D.unsqueeze(1) * alpha.unsqueeze(2)).flatten(1);
  return weighted.t().mm(X_hat).view({alpha.size(1), D.size(1), X_hat.size(1)});
}

}  // namespace eignn
