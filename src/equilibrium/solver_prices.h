// The estimated cost of an epoch with each solver, from the sizes of the problem alone.
#pragma once

#include <vector>

#include "eignn/planner.h"
#include "equilibrium/elimination/elimination.h"

namespace eignn {

/// The size and cost of the eigenbases of S, from the sizes of its components. That equal components are
/// decomposed once is not taken into account.
struct Eigenbases {
  int64_t largest = 0;  // nodes of a component
  double entries = 0;   // Σ k²
  double bytes = 0;     // including the work space for the largest
  double seconds = 0;   // to compute them on the CPU

  Eigenbases(const Propagation& S, torch::Dtype dtype);
};

/// Estimates for two cores of an AMD EPYC, in this order: spectral, krylov, deflated, sparse, direct, picard.
/// No solver is refused yet. The constants come from `eignn bench planner`.
std::vector<Price> solver_prices(const PlanRequest& request, const Eigenbases& bases,
                                 const EliminationCost& elimination);

}  // namespace eignn
