#include "equilibrium/contraction.h"

#include <torch/torch.h>

#include <cmath>

#include "eignn/error.h"
#include "equilibrium/dense_kernels.h"
#include "equilibrium/symmetric_eigen.h"

namespace eignn {

torch::Tensor rayleigh_quotients(const torch::Tensor& F, const torch::Tensor& Q) {
  const auto f = F.to(torch::kCPU, torch::kFloat64).contiguous(),
             q = Q.to(torch::kCPU, torch::kFloat64).t().contiguous();
  const int64_t rows = f.size(0), m = f.size(1);
  auto sigma = torch::empty({m}, torch::kFloat64);
  const double *F_data = f.data_ptr<double>(), *Q_data = q.data_ptr<double>();
  double* out = sigma.data_ptr<double>();
  for (int64_t i = 0; i < m; ++i) {
    const double* qi = Q_data + i * m;
    long double above = 0, below = 0;
    for (int64_t r = 0; r < rows; ++r) {
      long double dot = 0;
      for (int64_t c = 0; c < m; ++c) dot += static_cast<long double>(F_data[r * m + c]) * qi[c];
      above += dot * dot;
    }
    for (int64_t c = 0; c < m; ++c) below += static_cast<long double>(qi[c]) * qi[c];
    out[i] = static_cast<double>(above / below);
  }
  return sigma;
}

namespace {

// factor · ∂L/∂F with ∂L/∂F = F (A - 2⟨FᵀF, ḡ⟩/(ν² + εν) FᵀF) / (ν+ε) for A = ḡ + ḡᵀ, ḡ = ∂L/∂g.
//
// A = A⊥ + c FᵀF, and A - c ν²/(ν² + εν) FᵀF = A⊥ + c ε/(ν+ε) FᵀF: nothing cancels, even where A⊥ = 0 (m =
// 1). FᵀF is projected out twice, because the rounding error of the first projection may be as large as A⊥.
torch::Tensor pull(const torch::Tensor& F, const torch::Tensor& gram, const torch::Tensor& nu, double epsilon,
                   Symmetric A, double factor) {
  const auto part_of = [&](const torch::Tensor& dot) {
    return torch::where(nu > 0, dot / nu / nu, torch::zeros_like(dot));
  };
  const auto first = part_of(A.add_and_dot_(torch::zeros_like(nu), gram));
  const auto second = part_of(A.add_and_dot_(-first, gram));
  A.add_((first + second) * (epsilon / (nu + epsilon)) - second, gram);
  return A.multiplied(F, factor / (nu + epsilon));
}

// The same with ν known on the host. It takes a third of the kernel launches, which dominate the time on a
// GPU.
torch::Tensor pull_with_host_nu(const torch::Tensor& F, const torch::Tensor& gram, double nu, double epsilon,
                                torch::Tensor A, double factor) {
  if (nu == 0) return torch::zeros_like(F);
  const auto part_of_A = [&] { return A.flatten().dot(gram.flatten()) / nu; };  // c ν
  const auto first = part_of_A();
  A.addcmul_(first, gram, -1 / nu);
  const auto second = part_of_A();
  const double kept = epsilon / (nu + epsilon);
  A.addcmul_(torch::add(first * kept, second, kept - 1), gram, 1 / nu);
  return torch::addmm(F, F, A, /*beta=*/0, factor / (nu + epsilon));
}

}  // namespace

Contraction::Contraction(const torch::Tensor& F, double gamma, double epsilon, CheckNu check)
    : F_(F.detach()), gram_(gram_of(F_)), nu_(gram_.norm()), gamma_(gamma), epsilon_(epsilon) {
  if (check == CheckNu::now) nu();
}

double finite_nu(const torch::Tensor& nu) {
  const auto value = nu.item<double>();
  // An infinite ν would make g = 0, and Z = X would look like a solution.
  if (!std::isfinite(value))
    throw ConvergenceError("the weights are out of range", "‖FᵀF‖ is not finite",
                           "scale F down, or lower lr in training");
  return value;
}

double Contraction::nu() const {
  if (!nu_on_host_) nu_on_host_ = finite_nu(nu_);
  return *nu_on_host_;
}

torch::Tensor Contraction::pullback(torch::Tensor R) const {
  if (!F_.is_cpu()) return pull_with_host_nu(F_, gram_, nu(), epsilon_, R + R.t(), gamma_);
  return pull(F_, gram_, nu_, epsilon_, Symmetric::sum_of(R), gamma_);
}

torch::Tensor Contraction::pull_g(const torch::Tensor& left, const torch::Tensor& right) const {
  if (!F_.is_cpu()) {
    const auto g_bar = left.t().mm(right);
    return pull_with_host_nu(F_, gram_, nu(), epsilon_, g_bar + g_bar.t(), 1);
  }
  return pull(F_, gram_, nu_, epsilon_, Symmetric::product_of(left, right), 1);
}

torch::Tensor grams_of(const torch::Tensor& F) {
  if (!F.is_cpu()) return F.transpose(1, 2).bmm(F);
  std::vector<torch::Tensor> grams;
  for (const auto& one : F.unbind()) grams.push_back(gram_of(one));
  return torch::stack(grams);
}

torch::Tensor pull_contractions(const torch::Tensor& F, const torch::Tensor& gram, const torch::Tensor& nu,
                                double epsilon, const torch::Tensor& g_bar) {
  if (!F.is_cpu()) return pull_contractions_batched(F, gram, nu, epsilon, g_bar);
  std::vector<torch::Tensor> gradients;
  for (int64_t k = 0; k < F.size(0); ++k)
    gradients.push_back(pull(F[k], gram[k], nu[k].squeeze(), epsilon, Symmetric::sum_of(g_bar[k]), 1));
  return torch::stack(gradients);
}

torch::Tensor pull_contractions_batched(const torch::Tensor& F, const torch::Tensor& gram,
                                        const torch::Tensor& nu, double epsilon, const torch::Tensor& g_bar) {
  const auto is_zero = nu == 0;
  const auto part_of = [&](const torch::Tensor& A) {
    return (A * gram).sum({1, 2}, /*keepdim=*/true).div_(nu).div_(nu).masked_fill_(is_zero, 0);
  };
  auto A = g_bar + g_bar.transpose(1, 2);
  const auto first = part_of(A);
  A.addcmul_(first, gram, -1);
  const auto second = part_of(A), share = nu + epsilon;
  A.addcmul_(torch::addcdiv(-second, first + second, share, epsilon), gram);
  return F.bmm(A).div_(share);
}

DecomposedContraction::DecomposedContraction(const torch::Tensor& F, double gamma, double epsilon,
                                             bool refined)
    : Contraction(F, gamma, epsilon) {
  torch::Tensor sigma;
  std::tie(sigma, Q) = symmetric_eigen(gram_);
  if (refined) sigma = rayleigh_quotients(F_, Q).to(sigma.options());
  sigma = sigma.clamp_min(0);
  // ν is computed from the same eigenvalues, so that 1 - μ₁ = (ε + Σ_{i>1} σᵢ²/(ν+σ₁)) / (ν+ε) holds for them
  // exactly.
  const auto nu = sigma.norm();
  mu = sigma / (nu + epsilon);
  one_minus_mu = 1 - mu;
  const int64_t m = sigma.size(0);
  const auto rest = sigma.narrow(0, 0, m - 1).square().sum();
  const auto top = sigma[m - 1];
  const auto gap = torch::where(nu > 0, rest / (nu + top), torch::zeros_like(nu));
  one_minus_mu[m - 1] = (gap + epsilon) / (nu + epsilon);
  a = gamma * mu;
  one_minus_a = (1 - gamma) + gamma * one_minus_mu;
}

torch::Tensor times_g(const torch::Tensor& Z, const torch::Tensor& F, double epsilon) {
  const Contraction g(F.size(0) < F.size(1) ? F.t() : F, 1.0, epsilon);
  return F.size(0) < F.size(1) ? Z.mm(F.t()).mm(F) * g.scale() : Z.mm(g.g());
}

std::vector<double> leading_mu(const torch::Tensor& F, double epsilon, int64_t k) {
  // The eigenvalues of a thin F's FᵀF that are not zero are those of F Fᵀ.
  const auto f = F.size(0) < F.size(1) ? F.t() : F;
  const DecomposedContraction g(f.detach().to(torch::kCPU, torch::kFloat64), 1.0, epsilon);
  const auto largest = g.mu.flip(0).narrow(0, 0, std::min(k, g.mu.size(0))).contiguous();
  return {largest.data_ptr<double>(), largest.data_ptr<double>() + largest.numel()};
}

}  // namespace eignn
