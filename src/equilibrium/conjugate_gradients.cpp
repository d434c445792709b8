#include "equilibrium/conjugate_gradients.h"

#include <torch/torch.h>

#include "equilibrium/tolerance.h"

namespace eignn {

namespace {

torch::Tensor column_dots(const torch::Tensor& a, const torch::Tensor& b) {
  return (a * b).sum(0, /*keepdim=*/true);
}

}  // namespace

int64_t conjugate_gradients(const std::function<torch::Tensor(const torch::Tensor&)>& A,
                            const torch::Tensor& X, const SolverOptions& options, const std::string& solver,
                            const std::string& remedy, torch::Tensor& Z) {
  const double tolerance = backward_tolerance(options), x_norm = X.norm().item<double>();
  int64_t products = 0;
  // Each round starts from a recomputed residual: the recurrence's own drifts when the condition number is
  // large.
  constexpr int64_t most_products_in_a_sweep = 1000;
  const double smallest = X.scalar_type() == torch::kFloat32 ? 1e-36 : 1e-290;  // below it quotients overflow
  constexpr int most_rounds = 20;  // by then the recurrence and the recomputed residual will never agree
  for (int round = 0; round < most_rounds && products <= options.max_iterations; ++round) {
    auto r = X - A(Z);  // r = x - A z
    ++products;
    auto rho = column_dots(r, r);  // ρ = ⟨r, r⟩, a column each
    double r_norm = rho.sum().sqrt().item<double>();
    if (!std::isfinite(r_norm)) throw not_finite(solver);
    const double bound = tolerance * (x_norm + Z.norm().item<double>());
    if (r_norm <= bound) return products;
    auto p = r.clone();
    Z = Z.clone();  // what the caller gave is not ours to change
    const auto none = torch::zeros_like(rho);
    for (int64_t sweep_products = 0; r_norm > bound && sweep_products < most_products_in_a_sweep;
         ++sweep_products) {
      const auto q = A(p);  // q = A p
      ++products;
      // A column that rounding has robbed of its curvature rests until the next sweep.
      const auto curvature = column_dots(p, q);
      const auto alive = (rho > smallest).logical_and(curvature > smallest);
      const auto alpha = torch::where(alive, rho / curvature, none);  // α = ρ / ⟨p, q⟩
      Z.addcmul_(alpha, p);
      r.addcmul_(alpha, q, -1);
      const auto next = column_dots(r, r);
      const auto beta = torch::where(alive, next / rho, none);  // β = ρ' / ρ
      p.mul_(beta).add_(r);
      rho = next;
      r_norm = rho.sum().sqrt().item<double>();
    }
  }
  throw did_not_converge(solver, products, "products", options, remedy);
}

}  // namespace eignn
