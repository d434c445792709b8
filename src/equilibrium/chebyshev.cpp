#include "equilibrium/chebyshev.h"

#include <torch/torch.h>

#include <cmath>

namespace eignn {

namespace {

// (terms, b, k, m) → (b, terms·k, m)
torch::Tensor stacked(const torch::Tensor& P) {
  return P.transpose(0, 1).reshape({P.size(1), P.size(0) * P.size(2), P.size(3)});
}

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

void ChebyshevChain::run(const torch::Tensor& P0, const torch::Tensor& twice_argument) {
  P[0].copy_(P0);
  auto first = P[1];
  torch::bmm_out(first, P[0], twice_argument).mul_(0.5);  // T_1(x) = x
  for (int64_t p = 2; p < P.size(0); ++p) {               // T_p = 2x T_{p-1} - T_{p-2}
    auto next = P[p];
    torch::baddbmm_out(next, P[p - 2], P[p - 1], twice_argument, -1);
  }
}

ChebyshevChain::Pulled ChebyshevChain::pull(torch::Tensor C, const torch::Tensor& twice_argument) const {
  for (int64_t p = P.size(0) - 1; p >= 2; --p) {
    C[p - 1].baddbmm_(C[p], twice_argument);
    C[p - 2].sub_(C[p]);
  }
  C[1].mul_(0.5);
  C[0].baddbmm_(C[1], twice_argument);
  const int64_t last = P.size(0) - 1;
  const auto left = stacked(P.narrow(0, 0, last)), right = stacked(C.narrow(0, 1, last));
  return {C[0], left.transpose(1, 2).bmm(right).mul_(4)};  // ∂ 2(2g - I) / ∂g = 4
}

}  // namespace eignn
