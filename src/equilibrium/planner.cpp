// Which solver `auto` takes: the cheapest that keeps what the graph's longest path carries.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "eignn/solver.h"
#include "equilibrium/elimination.h"
#include "equilibrium/tolerance.h"

namespace eignn {

namespace {

// Hops after which a dense eigendecomposition, accurate to u relative to the largest entry, has lost the
// signal. Along a path r + 1/r = 3/a - 1; the start that decays fastest has all eigenvalues of g equal, a =
// γ/√m.
double reach_of_spectral(double gamma, double features, double u) {
  const double a = gamma / std::sqrt(features), half = (3 / a - 1) / 2;
  const double r = half - std::sqrt(half * half - 1);
  return r < 1 ? std::log(u) / std::log(r)
               : std::numeric_limits<double>::infinity();  // γ = 1, m = 1: nothing falls
}

// Floating operations of one training step in units of a plain matrix product, so that they compare as times.
// The weights are measured: a symmetric eigendecomposition of size m runs like 40 m³ operations of a product
// (on a GPU, whose products are the faster, like 150 m³), and an elimination's scattered updates like 10 of
// its operations each.
struct StepCost {
  double spectral, krylov, direct;
};

StepCost step_cost(const Propagation& S, double m, const EliminationCost& elimination, bool on_gpu) {
  const double n = static_cast<double>(S.nodes), slots = static_cast<double>(elimination.slots);
  const double decomposition = (on_gpu ? 150 : 40) * m * m * m, products = 2 * n * m * m;
  return {decomposition + 5 * products, 8 * products,
          decomposition + products + 10 * m * (2 * elimination.updates + 8 * slots + 8 * n)};
}

}  // namespace

Plan plan_solver(const Propagation& S, int64_t features, const SolverOptions& options, bool needs_all) {
  const double m = static_cast<double>(std::max<int64_t>(features, 1));
  const EliminationCost elimination = estimate_elimination(S);
  const StepCost cost = step_cost(S, m, elimination, !options.device.is_cpu());
  // In time, and in the memory that the factors of all m shifts take.
  const bool affordable =
      elimination.updates < 1e8 && 32.0 * static_cast<double>(elimination.slots) * m < 4e9;
  const char* on_cpu = options.device.is_cpu() ? "" : "; it runs on the CPU";

  if (!S.symmetric) {
    if (affordable)
      return {"direct",
              fmt::format("the graph is directed, and its elimination needs {} entries for {} nodes{}",
                          elimination.slots, S.nodes, on_cpu)};
    return {"deflated", "the graph is directed, and its elimination fills in too much"};
  }
  const double reach = reach_of_spectral(options.gamma, m, unit_roundoff(options.dtype));
  const int64_t hops = longest_hops(S.pattern());
  if (affordable && static_cast<double>(hops) > reach &&
      cost.direct < 20 * std::min(cost.spectral, cost.krylov))
    return {"direct",
            fmt::format("a path of {} hops is longer than the {} that an eigendecomposition keeps, and the "
                        "elimination needs {} entries for {} nodes{}",
                        hops, static_cast<int64_t>(reach), elimination.slots, S.nodes, on_cpu)};
  if (affordable && cost.direct < std::min(cost.spectral, cost.krylov) && options.device.is_cpu() &&
      !needs_all)
    return {"direct",
            fmt::format("the elimination is sparse ({} entries for {} nodes)", elimination.slots, S.nodes)};
  if (cost.krylov < cost.spectral)
    return {"krylov",
            fmt::format("{} features on {} nodes: products with g cost less than its eigendecomposition",
                        features, S.nodes)};
  return {"spectral",
          fmt::format("{} features on {} nodes, symmetric: the closed form costs least", features, S.nodes)};
}

}  // namespace eignn
