// g(F) = FᵀF / (ν + ε), ν = ‖FᵀF‖_F: its spectrum without cancellation, and its pullback.
#pragma once

#include <torch/types.h>

#include <optional>
#include <vector>

namespace eignn {

/// ν, checked to be finite: ConvergenceError.
double finite_nu(const torch::Tensor& nu);

/// ‖F q_i‖² / ‖q_i‖² for every column of Q (m, k), F of m columns; float64 on the CPU. The error of q_i
/// enters squared, and long double keeps the rounding of the sums below it.
torch::Tensor rayleigh_quotients(const torch::Tensor& F, const torch::Tensor& Q);

/// g and its derivative. O(m³), without an eigendecomposition.
class Contraction {
 public:
  /// When to check that ν is finite. Reading ν makes the host wait for a GPU.
  enum class CheckNu { now, when_read };

  /// Throws ConvergenceError where ν is not finite. With CheckNu::when_read the check is left to nu(), which
  /// the caller must call.
  Contraction(const torch::Tensor& F, double gamma, double epsilon, CheckNu check = CheckNu::now);

  const torch::Tensor& F() const { return F_; }
  torch::Tensor g() const { return gram_ / (nu_ + epsilon_); }
  const torch::Tensor& gram() const { return gram_; }           // FᵀF
  torch::Tensor scale() const { return 1 / (nu_ + epsilon_); }  // g = scale · FᵀF
  double nu() const;                                            // checked to be finite
  const torch::Tensor& nu_on_device() const { return nu_; }     // unchecked, without waiting for a GPU
  double epsilon() const { return epsilon_; }

  /// ∇F for R = W Sᵀ Zᵀ:  γ/(ν+ε) · F (R + Rᵀ - 2⟨FᵀF, R⟩/(ν² + εν) · FᵀF).  At F = 0 the gradient is 0. R
  /// may be overwritten.
  torch::Tensor pullback(torch::Tensor R) const;
  /// ∇F for ∂L/∂g = leftᵀ right, of (k, m) each.
  torch::Tensor pull_g(const torch::Tensor& left, const torch::Tensor& right) const;

 protected:
  torch::Tensor F_, gram_, nu_;
  double gamma_, epsilon_;

 private:
  mutable std::optional<double> nu_on_host_;
};

/// FᵀF of a batch, (b, m, m).
torch::Tensor grams_of(const torch::Tensor& F);
/// ∂L/∂F for ∂L/∂g (b, m, m) of a batch, which may be overwritten; ν is (b, 1, 1). Works on one matrix after
/// the other on a CPU, and calls pull_contractions_together() elsewhere.
torch::Tensor pull_contractions(const torch::Tensor& F, const torch::Tensor& gram, const torch::Tensor& nu,
                                double epsilon, const torch::Tensor& g_bar);
torch::Tensor pull_contractions_batched(const torch::Tensor& F, const torch::Tensor& gram,
                                        const torch::Tensor& nu, double epsilon, const torch::Tensor& g_bar);

/// A contraction with g = Q diag(μ) Qᵀ, μ ascending.
class DecomposedContraction : public Contraction {
 public:
  /// `refined` recomputes the eigenvalues as Rayleigh quotients in long double, for solvers whose answer at
  /// distance d depends on μ to the power d.
  DecomposedContraction(const torch::Tensor& F, double gamma, double epsilon, bool refined = false);

  torch::Tensor Q;            // (m, m), columns are eigenvectors
  torch::Tensor mu;           // (m,)
  torch::Tensor a;            // γμ
  torch::Tensor one_minus_a;  // (1-γ) + γ(1-μ), never formed as 1 - a
  torch::Tensor one_minus_mu;
};

/// Z g(F), node-major. A thin F's g, which has m² entries, is not formed.
torch::Tensor times_g(const torch::Tensor& Z, const torch::Tensor& F, double epsilon);

/// The k largest eigenvalues of g(F), largest first, for the summary of a run.
std::vector<double> leading_mu(const torch::Tensor& F, double epsilon, int64_t k = 5);

}  // namespace eignn
