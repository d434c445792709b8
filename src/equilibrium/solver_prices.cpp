#include "equilibrium/solver_prices.h"

#include <algorithm>
#include <cmath>

#include "equilibrium/chebyshev.h"
#include "equilibrium/tolerance.h"

namespace eignn {

namespace {

// Seconds per elementary operation on two cores, from `eignn bench planner` and single timings.
struct Rates {
  double flop;    // floating-point operation of a dense product
  double eigen;   // the factor of k³ in a symmetric eigendecomposition of size k
  double gather;  // number gathered by a sparse product
  double number;  // number read or written by an element-wise operation
  double update;  // update of a number in an elimination

  explicit Rates(torch::Dtype dtype) {
    if (dtype == torch::kFloat32)
      *this = {8e-12, 1e-10, 1.5e-10, 5e-10, 1e-9};
    else
      *this = {1.6e-11, 2e-10, 3e-10, 1e-9, 2e-9};
  }
  Rates(double flop_, double eigen_, double gather_, double number_, double update_)
      : flop(flop_), eigen(eigen_), gather(gather_), number(number_), update(update_) {}

  double decomposition(double k) const { return 2e-5 + 1e-8 * k * k + eigen * k * k * k; }
};

// The sizes of the problem, and the costs of operations that several solvers share.
struct Sizes {
  double n, m, entries, outputs, trained, evaluated, density, solves, eigen_entries, tolerance, gamma;
  bool stay, all, scores, symmetric, one_component;
  Rates rate, in_double;

  Sizes(const PlanRequest& r, const Eigenbases& bases)
      : n(static_cast<double>(std::max<int64_t>(r.S.nodes, 1))),
        m(static_cast<double>(std::max<int64_t>(r.width, 1))),
        entries(static_cast<double>(r.S.entries())),
        outputs(static_cast<double>(r.outputs)),
        trained(r.trained >= 0 ? static_cast<double>(r.trained) : n / 2),
        evaluated(r.evaluated >= 0 ? static_cast<double>(r.evaluated) : trained),
        density(r.density),
        // An evaluation and the next training step share a solve where X does not change; with an encoder it
        // does.
        solves(r.options.fixed_features ? 1 : 2),
        eigen_entries(bases.entries),
        tolerance(backward_tolerance(r.options)),
        gamma(r.options.gamma),
        stay(r.options.fixed_features && !r.thin),
        all(r.reads == Reads::all_nodes),
        scores(r.reads == Reads::scores_only),
        symmetric(r.S.symmetric),
        one_component(2 * bases.largest > r.S.nodes),
        rate(r.options.dtype),
        in_double(torch::kFloat64) {}

  // An a×b times a b×c matrix. Thin matrices use the processor less well.
  double product(double a, double b, double c) const {
    constexpr double thin = 48;
    return 2 * a * b * c * rate.flop * (1 + thin / std::min({a, b, c}));
  }
  double gram() const { return m * m * m * rate.flop; }  // one triangle
  double pullback() const { return 2 * m * m * m * rate.flop + 6 * m * m * rate.number; }
  // A product with S. Gathering costs less where the numbers fit into the cache.
  double hop(double columns) const {
    constexpr double cache = 2e6;  // numbers
    return (entries * rate.gather + n * rate.number / 2) * columns * (1 + std::min(1.0, n * columns / cache));
  }
  // From the eigenbasis of S to some nodes, or back. Where one component has most of the nodes only these
  // rows are multiplied; many small components are multiplied whole, in a batch.
  double basis_change(double rows, double columns) const {
    constexpr double thin = 48;
    const double share = one_component && rows < 0.75 * n ? rows / n : 1;
    return eigen_entries * share * (2 * columns * rate.flop * (1 + thin / columns) + rate.number);
  }
};

// A typical μ₁ of a trained F, to estimate iteration counts, which depend on it only through a logarithm.
constexpr double usual_mu = 0.5;

double steps_until(double tolerance, double factor) {
  return std::max(1.0, std::log(tolerance) / std::log(factor));
}

double chebyshev_factor(double a) {
  return a / (1 + std::sqrt(1 - a * a));
}

// The largest eigenvalues of g, on a Krylov space of five blocks.
double deflation_of(const Sizes& s) {
  const double columns = 5 * std::clamp(s.m / 16, 1.0, 16.0);
  return 3e-4 + s.product(s.m, s.m, columns);
}

Price spectral_price(const Sizes& s, const Eigenbases& bases) {
  const double nm2 = s.product(s.n, s.m, s.m), numbers = s.n * s.m * s.rate.number;
  double forward = s.gram() + s.rate.decomposition(s.m) + nm2 + 4 * numbers;
  if (!s.stay) forward += s.basis_change(s.n, s.m);
  double epoch = s.solves * forward;
  epoch += s.basis_change(s.trained, s.scores ? s.outputs : s.m);
  epoch += s.stay && (s.scores || s.all) ? s.basis_change(s.evaluated, s.outputs)
                                         : s.basis_change(s.evaluated, s.m);
  if (s.all) epoch += 3 * nm2 + 6 * numbers;  // moments, and their cotangent
  epoch +=
      s.basis_change(s.trained, s.m) + 2 * nm2 + 3 * numbers + 2 * s.product(s.m, s.m, s.m) + s.pullback();
  if (!s.stay) epoch += nm2 + s.basis_change(s.n, s.m);
  return {"spectral", "", bases.seconds + s.basis_change(s.n, s.m), 1e3 * (3e-4 + epoch), ""};
}

Price krylov_price(const Sizes& s, const Eigenbases& bases) {
  const double preparation = bases.seconds + 2 * s.basis_change(s.n, s.m);
  if (s.scores && s.stay && s.gamma < 1) {
    const double terms = static_cast<double>(chebyshev_terms(s.gamma, s.tolerance));
    if (2 * terms * s.outputs < 5 * s.n) {
      // Each term reads g once forwards and once backwards.
      const double chain = 2 * terms * s.m * s.m * (2 * s.outputs * s.rate.flop + s.rate.number / 2);
      const double sums = s.n * terms * s.outputs * (4 * s.m * s.rate.flop + 10 * s.rate.number);
      const double nodes = s.basis_change(2 * s.trained + s.evaluated, s.outputs);
      return {"krylov", "series", preparation, 1e3 * (4e-4 + s.gram() + s.pullback() + chain + sums + nodes),
              ""};
    }
  }
  const double products = s.gamma < 1 ? 3 : 4, nm2 = s.product(s.n, s.m, s.m),
               numbers = s.n * s.m * s.rate.number;
  const double one_solve = products * (nm2 + 20 * numbers);
  const double deflation = deflation_of(s);
  double epoch = s.solves * (s.gram() + deflation + one_solve) + one_solve + nm2 + s.pullback();
  if (!s.stay) epoch += (2 * s.solves + 1) * s.basis_change(s.n, s.m);
  epoch += s.basis_change(2 * s.trained + s.evaluated, s.m);
  if (s.all) epoch += 6 * numbers;
  return {"krylov", "conjugate gradients", preparation, 1e3 * (3e-4 + epoch), ""};
}

Price deflated_price(const Sizes& s) {
  const double nm2 = s.product(s.n, s.m, s.m), numbers = s.n * s.m * s.rate.number,
               thin = std::min(80.0, s.m / 4);
  const double factor = s.symmetric ? chebyshev_factor(s.gamma * usual_mu) : s.gamma * usual_mu;
  const double small = 2 * steps_until(s.tolerance, factor) * s.hop(thin) / 2;  // two rounds of thin systems
  const double deflation = deflation_of(s);
  // Products n×m×m besides the first. With few features the residual is not sketched, and more of g's
  // eigenvalues are not small.
  const double rounds = s.m > 128 ? 1 : 5;
  const double first = s.density < 0.125 ? s.density : 1;
  const double forward = s.gram() + deflation + (rounds + first) * nm2 + small + (rounds + 1) * s.hop(s.m) +
                         10 * rounds * numbers;
  const double adjoint =
      (rounds + s.trained / s.n) * nm2 + small + (rounds + 1) * s.hop(s.m) + 10 * rounds * numbers;
  double epoch = s.solves * forward + adjoint + s.hop(s.m) + nm2 + s.pullback();
  if (s.all) epoch += 8 * numbers;
  return {"deflated", "", 0, 1e3 * (1e-3 + epoch), ""};
}

Price sparse_iteration_price(const Sizes& s) {
  const double nm2 = s.product(s.n, s.m, s.m), numbers = s.n * s.m * s.rate.number;
  const double a = s.gamma * usual_mu, factor = s.symmetric ? chebyshev_factor(a) : a;
  double one_solve = steps_until(s.tolerance, factor) / 2 * (s.hop(s.m) + 2 * numbers);
  // With γ = 1 training may bring a μ near 1; its cache line of columns then takes many more iterations.
  if (s.gamma == 1) one_solve += 20 * s.hop(std::min(16.0, s.m));
  const double decomposition = s.m * s.m * s.m * s.in_double.flop + s.in_double.decomposition(s.m);
  double epoch = s.solves * (decomposition + nm2 + one_solve);
  epoch += s.product(s.trained + s.evaluated, s.m, s.m);
  if (s.all) epoch += nm2 + 6 * numbers;
  epoch += s.product(s.all ? s.n : s.trained, s.m, s.m) + one_solve + s.hop(s.m) + nm2;
  epoch += 6 * s.m * s.m * s.m * s.in_double.flop;
  if (!s.stay) epoch += nm2;
  return {"sparse", "iteration", 0, 1e3 * (6e-4 + epoch), ""};
}

// Approximates the conditions of SparseSeries::make() and SparseSeries::terms_at().
bool takes_series(const Sizes& s, double terms) {
  if (!s.symmetric || !s.stay || s.all || s.gamma > 0.97) return false;
  const double columns = std::max(s.scores ? s.outputs : s.m, 8.0),
               numbers = s.rate.flop < s.in_double.flop ? 4 : 8;
  const double nodes = std::max(s.trained, s.evaluated);
  return nodes * columns <= s.entries &&
         nodes * terms * s.m * numbers <= std::max(1024.0 * 1024 * 1024, 4 * s.n * s.m * numbers);
}

Price sparse_price(const Sizes& s) {
  const double terms = 1.3 * steps_until(s.tolerance, chebyshev_factor(s.gamma * usual_mu));
  if (!takes_series(s, terms)) return sparse_iteration_price(s);
  const double columns = s.scores ? s.outputs : s.m, m2 = s.m * s.m;
  const double preparation = terms * (s.hop(s.m) + 4 * s.n * s.m * s.rate.number);
  const double decomposition = m2 * s.m * s.in_double.flop + s.in_double.decomposition(s.m);
  const double forward =
      terms * (s.product(s.trained + s.evaluated, s.m, columns) +
               (s.scores ? 2 * m2 * s.outputs * s.in_double.flop : 0) + 2 * m2 * s.in_double.number);
  const double backward =
      terms * (s.product(s.trained, s.m, columns) + 2 * m2 * columns * s.in_double.flop +
               (s.scores ? 2 * m2 * s.outputs * s.in_double.flop : 0) + 12 * m2 * s.in_double.number + 6e-5);
  const double rest = 6 * m2 * s.m * s.in_double.flop;
  const double reading = terms * (2 * s.trained + s.evaluated) * s.m * s.rate.number;  // T_p X at these nodes
  return {"sparse", "series", preparation, 1e3 * (5e-4 + decomposition + forward + backward + rest + reading),
          ""};
}

Price direct_price(const Sizes& s, const EliminationCost& elimination) {
  const double nm2 = s.product(s.n, s.m, s.m), slots = static_cast<double>(elimination.slots);
  const double factorisation = s.m * (elimination.updates + 2 * slots + 4 * s.n) * s.rate.update;
  const double substitution = s.m * (2 * slots + 4 * s.n) * s.rate.update;
  double forward = s.gram() + s.rate.decomposition(s.m) + factorisation + substitution + nm2;
  if (!s.stay) forward += 10 * s.n * s.m * s.rate.number;
  double epoch = s.solves * forward + substitution + nm2 + 10 * s.n * s.m * s.rate.number;
  epoch += s.product((s.all ? 3 * s.n : 0) + 2 * s.trained + s.evaluated, s.m, s.m);
  epoch += 2 * s.product(s.m, s.m, s.m) + s.pullback();
  if (!s.stay) epoch += nm2;
  return {"direct", "", 1e-7 * (slots + elimination.updates), 1e3 * (3.5e-4 + epoch), ""};
}

Price picard_price(const Sizes& s) {
  const double steps = steps_until(s.tolerance, s.gamma * usual_mu), nm2 = s.product(s.n, s.m, s.m);
  const double one_solve = steps * (nm2 + s.hop(s.m) + 6 * s.n * s.m * s.rate.number);
  const double epoch = (s.solves + 1) * one_solve + s.gram() + nm2 + s.hop(s.m) + s.pullback();
  return {"picard", "", 0, 1e3 * (5e-4 + epoch), ""};
}

}  // namespace

Eigenbases::Eigenbases(const Propagation& S, torch::Dtype dtype) {
  const bool single = dtype == torch::kFloat32;
  const Components components = weak_components(S.pattern());
  std::vector<int64_t> size(components.count, 0);
  for (const int64_t label : components.label) ++size[label];
  for (const int64_t nodes : size) {
    const double k = static_cast<double>(nodes);
    largest = std::max(largest, nodes);
    entries += k * k;
    seconds += single ? (4.5e-11 * k + 4e-8) * k * k : (9e-11 * k + 8e-8) * k * k;
  }
  const double k = static_cast<double>(largest);
  bytes = (single ? 4 : 8) * (entries + 3 * k * k);
}

std::vector<Price> solver_prices(const PlanRequest& request, const Eigenbases& bases,
                                 const EliminationCost& elimination) {
  const Sizes sizes(request, bases);
  std::vector<Price> prices = {
      spectral_price(sizes, bases), krylov_price(sizes, bases),       deflated_price(sizes),
      sparse_price(sizes),          direct_price(sizes, elimination), picard_price(sizes)};
  for (Price& price : prices) price.epoch_ms *= static_cast<double>(request.equilibria);
  return prices;
}

}  // namespace eignn
