// Which solver `auto` takes: the cheapest that fits into memory and keeps a signal over the longest path.
#include "eignn/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "equilibrium/elimination/elimination.h"
#include "equilibrium/node/without_eigenbasis.h"
#include "equilibrium/signal_hops.h"
#include "equilibrium/solver_prices.h"
#include "equilibrium/tolerance.h"

namespace eignn {

namespace {

// Hops after which a method that is accurate to u relative to the largest entry has lost the signal.
double reach_of_norms(double gamma, double width, double u) {
  const double r = decay_per_hop(gamma, width);
  return r < 1 ? std::log(u) / std::log(r)
               : std::numeric_limits<double>::infinity();  // γ = 1, m = 1: the signal keeps its size
}

constexpr double most_bytes = 8e9;             // of eigenbases
constexpr double most_factor_bytes = 4e9;      // of an elimination for all m shifts
constexpr double most_updates = 1e8;           // of an elimination for one shift
constexpr int64_t largest_component = 32'766;  // LAPACK counts its work space in 32 bits

// The quantities that the decision depends on.
struct Facts {
  const PlanRequest& request;
  double m;
  EliminationCost elimination;
  Eigenbases bases;
  bool eliminable;   // within the limits on memory and updates
  int64_t hops = 0;  // only computed where `eliminable`: only direct keeps a signal over long paths
  double reach;

  explicit Facts(const PlanRequest& r)
      : request(r),
        m(static_cast<double>(std::max<int64_t>(r.width, 1))),
        elimination(trial_elimination()),
        bases(r.S, r.options.dtype),
        eliminable(elimination.updates < most_updates && factors_fit(elimination.slots)),
        reach(reach_of_norms(r.options.gamma, m, unit_roundoff(r.options.dtype))) {
    if (eliminable) hops = r.hops >= 0 ? r.hops : longest_signal_hops(r.S, decay_per_hop(r.options.gamma, m));
  }
  bool exceeds_reach() const { return eliminable && static_cast<double>(hops) > reach; }
  std::string reach_reason() const {
    return fmt::format(
        "a path of {} hops is longer than the {} over which the other solvers keep a signal, and the "
        "elimination needs {} entries for {} nodes",
        hops, static_cast<int64_t>(reach), elimination.slots, request.S.nodes);
  }
  std::string why_no_bases() const {
    return fmt::format("the eigenbasis of a component of {} nodes would take {:.2g} GB and {:.2g} minutes",
                       bases.largest, 1e-9 * bases.bytes, bases.seconds / 60);
  }

 private:
  bool factors_fit(int64_t slots) const { return 32.0 * static_cast<double>(slots) * m < most_factor_bytes; }
  // The factors have an entry for every edge, so a graph with too many edges needs no trial ordering.
  EliminationCost trial_elimination() const {
    const Propagation& S = request.S;
    return factors_fit((S.entries() - S.nodes) / 2) ? estimate_elimination(S)
                                                    : EliminationCost::unaffordable(S.nodes);
  }
};

std::string refusal(const Price& price, const Facts& facts) {
  const bool in_eigenbasis = price.solver == "spectral" || price.solver == "krylov";
  if (in_eigenbasis && !facts.request.S.symmetric) return "S is not symmetric";
  if (in_eigenbasis && (facts.bases.bytes > most_bytes || facts.bases.largest > largest_component))
    return facts.why_no_bases();
  if (price.solver == "direct" && !facts.eliminable) return "the elimination fills in too much";
  return "";
}

// Solvers that are not refused come first; within each group the cheapest.
void sort_by_cost(std::vector<Price>& prices, int64_t epochs) {
  std::stable_sort(prices.begin(), prices.end(), [&](const Price& a, const Price& b) {
    if (a.refused.empty() != b.refused.empty()) return a.refused.empty();
    return a.seconds(epochs) < b.seconds(epochs);
  });
}

Plan plan_on_cpu(const Facts& facts) {
  const PlanRequest& request = facts.request;
  Plan plan;
  plan.prices = solver_prices(request, facts.bases, facts.elimination);
  for (Price& price : plan.prices) price.refused = refusal(price, facts);
  sort_by_cost(plan.prices, request.epochs);
  if (facts.exceeds_reach()) {
    // Accuracy over long paths is worth up to this factor in time.
    constexpr double worth = 20;
    const auto direct = std::find_if(plan.prices.begin(), plan.prices.end(),
                                     [](const Price& price) { return price.solver == "direct"; });
    if (direct->seconds(request.epochs) < worth * plan.prices[0].seconds(request.epochs)) {
      for (Price& price : plan.prices)
        if (price.solver != "direct" && price.refused.empty())
          price.refused =
              fmt::format("keeps a signal over {} of {} hops", static_cast<int64_t>(facts.reach), facts.hops);
      sort_by_cost(plan.prices, request.epochs);
      plan.chosen_for_range = true;
    }
  }
  const Price& best = plan.prices[0];
  plan.solver = best.solver;
  if (plan.chosen_for_range) {
    plan.reason = facts.reach_reason();
    return plan;
  }
  plan.reason = fmt::format(
      "{} features on {} nodes, {} entries of S: {}{} costs least over {} epochs, about {:.2g} s and {:.2g} "
      "ms an epoch",
      request.width, request.S.nodes, request.S.entries(), best.solver,
      best.path.empty() ? "" : " (" + best.path + ")", request.epochs, best.preparation_s, best.epoch_ms);
  const auto no_bases = std::find_if(plan.prices.begin(), plan.prices.end(), [](const Price& price) {
    return price.refused.find("eigenbasis") != std::string::npos;
  });
  if (no_bases != plan.prices.end()) plan.reason += "; " + no_bases->refused;
  return plan;
}

// The costs of a step in floating-point operations of a dense product, as measured on an H200: an m×m
// eigendecomposition takes the time of 150 m³ of them, and an operation on gathered rows that of ten.
Plan plan_on_gpu(const Facts& facts) {
  const PlanRequest& request = facts.request;
  const Propagation& S = request.S;
  const double n = static_cast<double>(S.nodes), m = facts.m,
               slots = static_cast<double>(facts.elimination.slots);
  const double decomposition = 150 * m * m * m, products = 2 * n * m * m;
  const double hop = 10 * 2 * static_cast<double>(S.entries()) * m;
  const double steps =
      2 * std::log(backward_tolerance(request.options)) / std::log(request.options.gamma / 2);
  const double spectral = decomposition + 5 * products, krylov = 8 * products,
               deflated = 4 * products + 4 * hop;
  const double direct =
      decomposition + products + 10 * m * (2 * facts.elimination.updates + 8 * slots + 8 * n);
  const double sparse = decomposition + 4 * products + (steps / (S.symmetric ? 3 : 2) + 1) * hop;
  const char* on_cpu = "; it runs on the CPU";

  Plan plan;
  const auto choose = [&](const char* solver, const std::string& reason) {
    plan.solver = solver;
    plan.reason = reason;
    return plan;
  };
  // Features that change with every step, those of a stack or behind an encoder, have no series that could
  // be prepared; a small g needs no eigendecomposition, and S none either.
  const int64_t known =
      products_of_semi_iteration(request.options.gamma, S.symmetric, backward_tolerance(request.options));
  if (!request.options.fixed_features && request.width <= most_features_without_eigenbasis &&
      known <= most_products_without_eigenbasis && !facts.exceeds_reach())
    return choose("sparse", fmt::format("{} features that change with every step: at most {} products with g "
                                        "and S, known beforehand, and no eigendecomposition",
                                        request.width, known));
  if (!S.symmetric) {
    if (facts.eliminable)
      return choose("direct",
                    fmt::format("the graph is directed, and its elimination needs {} entries for {} nodes{}",
                                facts.elimination.slots, S.nodes, on_cpu));
    const char* reason = "the graph is directed, and its elimination fills in too much";
    if (decomposition < sparse / 2) return choose("sparse", reason);
    return choose("deflated", fmt::format("{}; {} features on {} nodes: products with g cost less than its "
                                          "eigendecomposition",
                                          reason, request.width, S.nodes));
  }
  const bool affordable = facts.bases.bytes < most_bytes && facts.bases.seconds < 120;
  if (facts.exceeds_reach() && direct < 20 * (affordable ? std::min(spectral, krylov) : sparse)) {
    plan.chosen_for_range = true;
    return choose("direct", facts.reach_reason() + on_cpu);
  }
  if (!affordable) return choose("sparse", facts.why_no_bases());
  if (krylov < spectral) {
    // deflated competes where all nodes are read, since krylov then changes basis for all of them. At γ = 1
    // only conjugate gradients have a convergence bound.
    const bool all = request.reads == Reads::all_nodes;
    const double to_nodes = (all ? 4 : 2) * facts.bases.entries * m;
    if (all && request.options.gamma < 1 && deflated < krylov + to_nodes)
      return choose("deflated",
                    fmt::format("{} features on {} nodes, all of them read: products with g and S cost less "
                                "than eigenbases",
                                request.width, S.nodes));
    return choose("krylov", fmt::format("{} features on {} nodes: products with g cost less than its "
                                        "eigendecomposition",
                                        request.width, S.nodes));
  }
  return choose("spectral", fmt::format("{} features on {} nodes, symmetric: the closed form costs least",
                                        request.width, S.nodes));
}

}  // namespace

Plan plan_solver(const PlanRequest& request) {
  const Facts facts(request);
  return request.options.device.is_cpu() ? plan_on_cpu(facts) : plan_on_gpu(facts);
}

}  // namespace eignn
