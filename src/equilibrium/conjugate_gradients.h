// Conjugate gradients with a preconditioner M on many symmetric positive definite systems at once.
//
//     q = A p,   α = ρ / ⟨p, q⟩,   z ← z + α p,   r ← r - α q,   ρ' = ⟨r, M⁻¹ r⟩,   p ← M⁻¹ r + (ρ'/ρ) p
//
// Both krylov, whose systems are the rows of a matrix, and sparse, for its last columns, use this loop.
// `Systems` supplies what differs:
//
//     torch::Tensor apply(P)              A P, for the systems still active
//     torch::Tensor precondition(r)       M⁻¹ r, a new tensor
//     torch::Tensor dots(P, Q)            ⟨p, q⟩ of each system, in a shape that broadcasts against P
//     double norm(R)                      ‖R‖ over all systems
//     double bound(Z)                     the largest ‖r‖ at which Z is accepted
//     Sweep begin_sweep(r_norm, bound)    an object that lives for one sweep
//     double sweep.reached(r)             ‖r‖ after a step; may deactivate systems that have converged
//     double sweep.goal(Z)                the ‖r‖ at which the sweep ends
//     torch::Tensor sweep.active(t)       the part of t that belongs to the systems still active
//     bool accepts_without_recomputing(Z, r_norm)
//                                         whether to accept Z by the ‖r‖ of the recurrence alone
#pragma once

#include <torch/torch.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "eignn/interrupt.h"
#include "eignn/solver.h"
#include "equilibrium/tolerance.h"

namespace eignn {

/// Solves A Z = X starting from Z, whose residual is r. Returns the number of products with A, including the
/// `products` that the caller spent on r. ConvergenceError where the bound cannot be reached; `solver` and
/// `remedy` go into its message.
template <class Systems>
int64_t conjugate_gradients(const Systems& systems, const torch::Tensor& X, torch::Tensor r, int64_t products,
                            const SolverOptions& options, const std::string& solver,
                            const std::string& remedy, torch::Tensor& Z) {
  // Quotients of smaller numbers may overflow.
  const double smallest = X.scalar_type() == torch::kFloat32 ? 1e-36 : 1e-290;
  constexpr int64_t most_products_in_a_sweep = 1000;
  constexpr int most_rounds = 20;  // after so many the recurrence will not agree with the recomputed residual
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
        check_interrupt();
        const auto q = systems.apply(p);
        ++products;
        // Where ρ or the curvature ⟨p, q⟩ has vanished by rounding, a system skips this step (α = 0) and
        // restarts from p = M⁻¹ r (β = 0).
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
    if (systems.accepts_without_recomputing(Z, r_norm)) return products;
    // The r of the recurrence drifts from the true residual when the condition number is large.
    r = X - systems.apply(Z);
    ++products;
  }
  throw did_not_converge(solver, products, "products", options, remedy);
}

}  // namespace eignn
