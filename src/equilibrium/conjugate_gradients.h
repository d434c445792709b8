// Conjugate gradients on many symmetric positive definite systems at once, by a preconditioner M.
//
//     q = A p,   α = ρ / ⟨p, q⟩,   z ← z + α p,   r ← r - α q,   ρ' = ⟨r, M⁻¹ r⟩,   p ← M⁻¹ r + (ρ'/ρ) p
//
// One loop for krylov, whose systems are the rows of a matrix, and for the last columns of sparse. What
// differs is in `Systems`:
//
//     torch::Tensor apply(P)              A P, of the systems still active
//     torch::Tensor precondition(r)       M⁻¹ r, a new tensor
//     torch::Tensor dots(P, Q)            ⟨p, q⟩ of each system, in a shape that broadcasts against P
//     double norm(R)                      ‖R‖ over all systems
//     double bound(Z)                     the ‖r‖ to reach
//     Sweep begin_sweep(r_norm, bound)    an object that lives as long as a sweep does
//     double sweep.reached(r)             ‖r‖ after a step; systems that it finds done leave
//     double sweep.goal(Z)                where the sweep ends
//     torch::Tensor sweep.active(t)       the part of t of the systems still active
//     bool believes(Z, bound)             whether a recurrence that arrived may be trusted without
//     recomputing r
#pragma once

#include <torch/torch.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "eignn/solver.h"
#include "equilibrium/tolerance.h"

namespace eignn {

/// Solves A Z = X from Z on, whose residual r is; returns the number of products with A, `products` of which
/// were needed for r. ConvergenceError where the bound cannot be reached; `solver` and `remedy` go into its
/// message.
template <class Systems>
int64_t conjugate_gradients(const Systems& systems, const torch::Tensor& X, torch::Tensor r, int64_t products,
                            const SolverOptions& options, const std::string& solver,
                            const std::string& remedy, torch::Tensor& Z) {
  // Below it quotients overflow.
  const double smallest = X.scalar_type() == torch::kFloat32 ? 1e-36 : 1e-290;
  constexpr int64_t most_products_in_a_sweep = 1000;
  constexpr int most_rounds = 20;  // by then the recurrence and the recomputed residual will never agree
  for (int round = 0; round < most_rounds && products <= options.max_iterations; ++round) {
    double r_norm = systems.norm(r);
    if (!std::isfinite(r_norm)) throw not_finite(solver);
    const double bound = systems.bound(Z);
    if (r_norm <= bound) return products;
    {
      auto sweep = systems.begin_sweep(r_norm, bound);
      auto p = systems.precondition(r);
      auto rho = systems.dots(r, p);
      for (int64_t count = 0; count < most_products_in_a_sweep && products <= options.max_iterations;
           ++count) {
        const auto q = systems.apply(p);
        ++products;
        // A system that rounding has robbed of its curvature rests until the next sweep.
        const auto none = torch::zeros_like(rho), curvature = systems.dots(p, q);
        const auto alive = (rho > smallest).logical_and(curvature > smallest);
        const auto alpha = torch::where(alive, rho / curvature, none);
        auto z_active = sweep.active(Z), r_active = sweep.active(r);
        z_active.addcmul_(alpha, p);
        r_active.addcmul_(alpha, q, -1);
        r_norm = sweep.reached(r_active);
        if (!(r_norm > sweep.goal(Z))) break;
        const auto left = sweep.active(r), preconditioned = systems.precondition(left);
        const auto next = systems.dots(left, preconditioned);
        const auto beta = torch::where(sweep.active(alive), next / sweep.active(rho), sweep.active(none));
        p = sweep.active(p).mul_(beta).add_(preconditioned);
        rho = next;
      }
    }
    if (systems.believes(Z, r_norm)) return products;
    // The recurrence's own r drifts when the condition number is large.
    r = X - systems.apply(Z);
    ++products;
  }
  throw did_not_converge(solver, products, "products", options, remedy);
}

}  // namespace eignn
