// Which solver `auto` takes: the cheapest that keeps what the graph's longest path carries.
#include <fmt/format.h>

#include <algorithm>
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

// What the eigenbases of S hold and take to make, by the sizes of the components; that equal ones are
// decomposed once is left out. Measured: k³ · 5e-11 s in float32, three times that in float64.
struct Eigenbases {
  int64_t largest = 0;
  double entries = 0, bytes = 0, seconds = 0;
  bool affordable() const { return bytes < 8e9 && seconds < 120; }
};

Eigenbases eigenbases_of(const Propagation& S, torch::Dtype dtype) {
  const bool single = dtype == torch::kFloat32;
  const Components components = weak_components(S.pattern());
  std::vector<int64_t> size(components.count, 0);
  for (const int64_t label : components.label) ++size[label];
  Eigenbases out;
  for (const int64_t nodes : size) {
    const double k = static_cast<double>(nodes);
    out.largest = std::max(out.largest, nodes);
    out.entries += k * k;
    out.bytes += (single ? 4 : 8) * k * k;
    out.seconds += (single ? 5e-11 : 1.5e-10) * k * k * k;
  }
  const double largest = static_cast<double>(out.largest);
  out.bytes += 3 * (single ? 4 : 8) * largest * largest;  // while it is made
  return out;
}

// Floating operations of one training step in units of a plain matrix product, so that they compare as times.
// The weights are measured: a symmetric eigendecomposition of size m runs like 40 m³ operations of a product
// (on a GPU, whose products are the faster, like 150 m³), an elimination's scattered updates like 10 of
// its operations each, and so do the gathered rows of a sparse product.
struct StepCost {
  double decomposition, spectral, krylov, deflated, direct, sparse;
};

StepCost step_cost(const Propagation& S, double m, const EliminationCost& elimination,
                   const SolverOptions& options) {
  const double n = static_cast<double>(S.nodes), slots = static_cast<double>(elimination.slots);
  const double decomposition = (options.device.is_cpu() ? 40 : 150) * m * m * m, products = 2 * n * m * m;
  const double hop = 10 * 2 * static_cast<double>(S.entries()) * m;
  // deflated: two products in the adjoint, one for R and one for good measure; four hops.
  // Iterations of the two solves, for γμ = γ/2; half of sparse's columns are done after half of them.
  const double recurrence = 2 * std::log(backward_tolerance(options)) / std::log(options.gamma / 2);
  const double sparse = S.symmetric ? recurrence / 3 : recurrence / 2;
  return {decomposition,
          decomposition + 5 * products,
          8 * products,
          4 * products + 4 * hop,
          decomposition + products + 10 * m * (2 * elimination.updates + 8 * slots + 8 * n),
          decomposition + 4 * products + (sparse + 1) * hop};
}

}  // namespace

Plan plan_solver(const Propagation& S, int64_t features, const SolverOptions& options, bool needs_all) {
  const double m = static_cast<double>(std::max<int64_t>(features, 1));
  // The factors of all m shifts must fit into memory. Every edge is in them, so that many a large graph needs
  // no trial ordering.
  const auto factors_fit = [&](int64_t slots) { return 32.0 * static_cast<double>(slots) * m < 4e9; };
  const EliminationCost elimination = factors_fit((S.entries() - S.nodes) / 2)
                                          ? estimate_elimination(S)
                                          : EliminationCost::unaffordable(S.nodes);
  const StepCost cost = step_cost(S, m, elimination, options);
  const bool affordable = elimination.updates < 1e8 && factors_fit(elimination.slots);
  const char* on_cpu = options.device.is_cpu() ? "" : "; it runs on the CPU";

  if (!S.symmetric) {
    if (affordable)
      return {"direct",
              fmt::format("the graph is directed, and its elimination needs {} entries for {} nodes{}",
                          elimination.slots, S.nodes, on_cpu)};
    const char* reason = "the graph is directed, and its elimination fills in too much";
    if (cost.decomposition < cost.sparse / 2) return {"sparse", reason};
    return {"deflated", fmt::format("{}; {} features on {} nodes: products with g cost less than its "
                                    "eigendecomposition",
                                    reason, features, S.nodes)};
  }
  const Eigenbases bases = eigenbases_of(S, options.dtype);
  const double others = bases.affordable() ? std::min(cost.spectral, cost.krylov) : cost.sparse;
  if (affordable) {
    const double reach = reach_of_spectral(options.gamma, m, unit_roundoff(options.dtype));
    const int64_t hops = longest_hops(S.pattern());
    if (static_cast<double>(hops) > reach && cost.direct < 20 * others)
      return {"direct",
              fmt::format("a path of {} hops is longer than the {} that an eigendecomposition keeps, and the "
                          "elimination needs {} entries for {} nodes{}",
                          hops, static_cast<int64_t>(reach), elimination.slots, S.nodes, on_cpu)};
    if (cost.direct < others && options.device.is_cpu() && !needs_all)
      return {"direct",
              fmt::format("the elimination is sparse ({} entries for {} nodes)", elimination.slots, S.nodes)};
  }
  if (!bases.affordable())
    return {"sparse",
            fmt::format("the eigenbasis of a component of {} nodes would take {:.2g} GB and {:.2g} minutes{}",
                        bases.largest, 1e-9 * bases.bytes, bases.seconds / 60,
                        affordable ? "" : ", and the elimination fills in too much")};
  // From the eigenbasis to the nodes that are read, and back: all of them, or some half. On a GPU, where
  // dense products are cheap and gathered rows are not, sparse does not pay; with γ = 1 there is no bound on
  // how long it takes, nor on what its residual hides in small entries.
  const double to_nodes = (needs_all ? 4 : 2) * bases.entries * m;
  if (options.device.is_cpu() && options.gamma < 1 && cost.sparse < others + to_nodes)
    return {"sparse", fmt::format("{} features on {} nodes: products with S, which has {} entries, cost less "
                                  "than those with its eigenbasis",
                                  features, S.nodes, S.entries())};
  if (cost.krylov < cost.spectral) {
    // krylov knows a short cut where the scores of the labelled nodes are all that is read.
    // For γ = 1 only its conjugate gradients know how long they take.
    if (needs_all && options.gamma < 1 && cost.deflated < cost.krylov + to_nodes)
      return {"deflated",
              fmt::format("{} features on {} nodes, all of them read: products with g and S cost less than "
                          "eigenbases",
                          features, S.nodes)};
    return {"krylov",
            fmt::format("{} features on {} nodes: products with g cost less than its eigendecomposition",
                        features, S.nodes)};
  }
  return {"spectral",
          fmt::format("{} features on {} nodes, symmetric: the closed form costs least", features, S.nodes)};
}

}  // namespace eignn
