// What an epoch costs with each solver, from sizes alone.
#pragma once

#include <vector>

#include "eignn/planner.h"
#include "equilibrium/elimination/elimination.h"

namespace eignn {

/// The eigenbases of S, by the sizes of its components; that equal components are decomposed once is left
/// out.
struct Eigenbases {
  int64_t largest = 0;  // nodes of a component
  double entries = 0;   // Σ k²
  double bytes = 0;     // with what the largest takes while it is made
  double seconds = 0;   // to make them, on the CPU

  Eigenbases(const Propagation& S, torch::Dtype dtype);
};

/// Estimates for two cores of an AMD EPYC, for one solver after the other: spectral, krylov, deflated,
/// sparse, direct, picard. Nothing is refused yet. The constants come from `eignn bench planner`.
std::vector<Price> solver_prices(const PlanRequest& request, const Eigenbases& bases,
                                 const EliminationCost& elimination);

}  // namespace eignn
