// Weighted graphs in every solver, against dense solves, and in `direct` relative to each entry, against
// eliminations in quadruple precision.
#include <gtest/gtest.h>

#include <cmath>

#include "eignn/planner.h"
#include "eignn/solver.h"
#include "equilibrium/signal_hops.h"
#include "support/oracle.h"
#include "support/random_weights.h"

namespace eignn {
namespace {

using Quad = __float128;  // 113 bits, exponents to ±16383
using test::random_matrix;
using test::relative_error;

std::shared_ptr<const Propagation> propagation(const Graph& graph, const PropagationOptions& options = {}) {
  return std::make_shared<Propagation>(make_propagation(graph, options));
}

PropagationOptions options_of(Direction direction, Normalisation normalise, bool self_loops) {
  PropagationOptions options;
  options.direction = direction;
  options.normalise = normalise;
  options.self_loops = self_loops;
  return options;
}

// ---- every solver

struct Case {
  std::string name;
  std::shared_ptr<const Propagation> S;
  double gamma;
  double tolerance;  // of Z, W and the gradient: larger where S is far from normal
};

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](const std::string& name, const Graph& graph, Direction direction,
                       Normalisation normalise, bool self_loops, double gamma, double tolerance) {
    all.push_back({name, propagation(graph, options_of(direction, normalise, self_loops)), gamma, tolerance});
  };
  for (const double orders : {2.0, 10.0}) {
    const auto weighted = [&](uint64_t seed, double degree) {
      return with_random_weights(test::random_graph(20, degree, seed), orders, seed);
    };
    const std::string name = orders == 2 ? "TwoOrders" : "TenOrders";
    const auto undirected = Direction::undirected, in = Direction::in, out = Direction::out;
    const auto sym = Normalisation::sym, out_in = Normalisation::out_in;
    add(name, weighted(1, 1.5), undirected, sym, true, 0.8, 1e-10);
    add(name + "GammaOne", weighted(2, 1.5), undirected, sym, true, 1, 1e-10);
    add(name + "WithoutSelfLoops", weighted(3, 1.2), undirected, sym, false, 0.8, 1e-10);
    add(name + "Dense", weighted(4, 6), undirected, sym, true, 0.8, 1e-10);
    add(name + "OutIn", weighted(5, 2), in, out_in, true, 0.8, 1e-10);
    add(name + "OutInWithoutSelfLoops", weighted(6, 2), out, out_in, false, 1, 1e-10);
    // The norm of a directed S under `sym` is up to the root of the ratio of two degrees.
    const double far = orders == 2 ? 1e-9 : 1e-6;
    add(name + "In", weighted(7, 1.5), in, sym, true, 0.8, far);
    add(name + "Out", weighted(8, 1.5), out, sym, true, 0.8, far);
    add(name + "InWithoutSelfLoops", weighted(9, 1.5), in, sym, false, 0.8, far);
  }
  return all;
}

class WeightedSolver : public testing::TestWithParam<std::string> {
 protected:
  bool takes(const Propagation& S) const {
    const std::string& name = GetParam();
    return S.symmetric || name == "direct" || name == "deflated" || name == "sparse" || name == "picard";
  }
};

TEST_P(WeightedSolver, AgreesWithADenseKroneckerSolveForwardsAndBackwards) {
  const int64_t m = 5;
  const auto F = random_matrix(m, m, 1);
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    if (!takes(*c.S)) continue;
    const auto X = random_matrix(c.S->nodes, m, 99), Y = random_matrix(c.S->nodes, m, 97);
    SolverOptions options;
    options.gamma = c.gamma;
    const auto solver = make_solver(GetParam(), c.S, options, m);
    const auto solved = solver->solve(F, X);
    EXPECT_LE(relative_error(solved->rows().plain(), test::dense_equilibrium(*c.S, F, X, c.gamma)),
              c.tolerance);
    EXPECT_LE(status_of(*solver, *solved, F, X).residual, 0.1 * c.tolerance);

    const auto gradients = solved->pull({}, {Y, {}}, true);
    const auto W = test::dense_equilibrium(*c.S, F, Y, c.gamma, 1e-12, true);
    EXPECT_LE(relative_error(gradients.X.plain(), W), c.tolerance);
    for (uint64_t direction = 0; direction < 2; ++direction) {
      const auto D = random_matrix(m, m, 40 + direction);
      const double h = 1e-5;
      const auto loss = [&](double step) {
        return (Y * test::dense_equilibrium(*c.S, F + step * D, X, c.gamma)).sum().item<double>();
      };
      const double scale = gradients.F.norm().item<double>() * D.norm().item<double>();
      EXPECT_NEAR((gradients.F * D).sum().item<double>(), (loss(h) - loss(-h)) / (2 * h),
                  1e-6 * scale + 1e-8 * std::abs(loss(0)));
    }
  }
}

TEST_P(WeightedSolver, GivesTheSameBitsForEqualWeightsAsForNone) {
  const Graph plain = test::random_graph(24, 2, 11);
  Graph equal = plain;
  equal.weight.assign(equal.target.size(), 0.3);
  const auto F = random_matrix(4, 4, 2), X = random_matrix(24, 4, 3);
  const auto Z = [&](const Graph& graph) {
    return make_solver(GetParam(), propagation(graph), {}, 4)->solve(F, X)->rows().plain();
  };
  EXPECT_TRUE(torch::equal(Z(plain), Z(equal)));
}

TEST_P(WeightedSolver, SeesTheWeights) {
  const Graph plain = test::random_graph(24, 2, 11);
  const auto F = random_matrix(4, 4, 2), X = random_matrix(24, 4, 3);
  const auto Z = [&](const Graph& graph) {
    return make_solver(GetParam(), propagation(graph), {}, 4)->solve(F, X)->rows().plain();
  };
  EXPECT_GT(relative_error(Z(with_random_weights(plain, 2, 1)), Z(plain)), 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Solvers, WeightedSolver,
                         testing::Values("spectral", "krylov", "direct", "sparse", "deflated", "picard"),
                         [](const auto& p) { return p.param; });

// ---- direct, relative to each entry

Quad square_root(Quad x) {
  if (x == 0) return 0;
  // Newton's iteration; the start is in the range of a double, x need not be.
  Quad root = 1;
  while (root * root < x) root *= 2;
  while (root * root > x) root /= 2;
  for (int k = 0; k < 8; ++k) root = (root + x / root) / 2;
  return root;
}

Quad scaled(double value, int64_t exponent) {
  Quad out = value;
  for (; exponent >= 512; exponent -= 512) out *= Quad(std::ldexp(1.0, 512));
  for (; exponent <= -512; exponent += 512) out *= Quad(std::ldexp(1.0, -512));
  return out * Quad(std::ldexp(1.0, static_cast<int>(exponent)));
}

Quad entry(const ScaledRows& Z, int64_t v) {
  return scaled(Z.values[v][0].item().toDouble(), Z.exponents.defined() ? Z.exponents[v].item<int64_t>() : 0);
}

double absolute(Quad x) {
  return static_cast<double>(x < 0 ? -x : x);
}

using Matrix = std::vector<std::vector<Quad>>;

// S by its definition from the graph's own weights.
Matrix quad_S(const Graph& graph, const PropagationOptions& o) {
  const auto n = static_cast<size_t>(graph.nodes);
  Matrix A(n, std::vector<Quad>(n, 0));
  const Quad scale = scale_of_weights(graph, o);
  for (size_t i = 0; i < n; ++i)
    for (int64_t a = graph.row_begin[i]; a < graph.row_begin[i + 1]; ++a) {
      const auto j = static_cast<size_t>(graph.target[a]);
      const Quad w = Quad(graph.weight[a]) / scale;
      if (o.direction == Direction::in) A[i][j] = w;
      if (o.direction == Direction::undirected && w > A[i][j]) A[i][j] = A[j][i] = w;
    }
  std::vector<Quad> degree(n, 0);
  for (size_t i = 0; i < n; ++i) {
    if (o.self_loops) A[i][i] += 1;
    for (size_t j = 0; j < n; ++j) degree[i] += A[i][j];
  }
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j)
      A[i][j] = degree[i] > 0 && degree[j] > 0 ? A[i][j] / square_root(degree[i] * degree[j]) : Quad(0);
  return A;
}

// The row z of z (I - a S) = x, or of z (I - a S)ᵀ = x, by Gauss's elimination. Off the diagonal I - a S has
// one sign, so that only pivots lose digits, and there are 34.
std::vector<Quad> quad_solve(const Matrix& S, Quad a, std::vector<Quad> x, bool transposed = false) {
  const size_t n = x.size();
  Matrix M(n, std::vector<Quad>(n));  // M z = x as a column
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) M[i][j] = (i == j ? 1 : 0) - a * (transposed ? S[i][j] : S[j][i]);
  for (size_t k = 0; k < n; ++k)
    for (size_t i = k + 1; i < n; ++i) {
      const Quad factor = M[i][k] / M[k][k];
      if (factor == 0) continue;
      for (size_t j = k; j < n; ++j) M[i][j] -= factor * M[k][j];
      x[i] -= factor * x[k];
    }
  for (size_t k = n; k-- > 0;) {
    for (size_t j = k + 1; j < n; ++j) x[k] -= M[k][j] * x[j];
    x[k] /= M[k][k];
  }
  return x;
}

// γμ for F = (weight), as the solver defines it.
Quad shift_of(double weight, double gamma) {
  const Quad square = Quad(weight) * weight;
  return Quad(gamma) * (square / (square + Quad(1e-12)));
}

TEST(WeightedDirect, EveryEntryIsRightRelativeToItselfOnSmallGraphsOfAllKinds) {
  const double weight = 0.7;
  const auto F = torch::full({1, 1}, weight, torch::kFloat64);
  double smallest = 1;
  for (uint64_t seed = 0; seed < 10; ++seed)
    for (const Direction direction : {Direction::undirected, Direction::in})
      for (const bool self_loops : {true, false})
        for (const double gamma : {0.8, 1.0}) {
          const int64_t n = 24;
          const Graph graph = with_random_weights(test::random_graph(n, 2, 70 + seed), 10, seed);
          const auto o = options_of(direction, Normalisation::sym, self_loops);
          SolverOptions options;
          options.gamma = gamma;
          auto X = torch::zeros({n, 1}, torch::kFloat64);
          X[0][0] = 1.5;
          const auto solved = make_solver("direct", propagation(graph, o), options, 1)->solve(F, X);
          const auto Z = solved->rows(), W = solved->pull({}, {X, {}}, true).X;
          std::vector<Quad> x(n, 0);
          x[0] = 1.5;
          const Matrix S = quad_S(graph, o);
          const auto z = quad_solve(S, shift_of(weight, gamma), x),
                     w = quad_solve(S, shift_of(weight, gamma), x, true);
          for (int64_t v = 0; v < n; ++v) {
            if (z[v] == 0) {
              EXPECT_EQ(absolute(entry(Z, v)), 0);
            } else {
              ASSERT_LE(absolute(entry(Z, v) / z[v] - 1), 1e-13) << "seed " << seed << " node " << v;
              smallest = std::min(smallest, absolute(z[v]));
            }
            if (w[v] == 0) {
              EXPECT_EQ(absolute(entry(W, v)), 0);
            } else {
              ASSERT_LE(absolute(entry(W, v) / w[v] - 1), 1e-13) << "seed " << seed << " node " << v;
            }
          }
        }
  EXPECT_LT(smallest, 1e-15) << "else a norm would have done";
}

// z (I - a S) = x e_0 on an undirected path with these weights between neighbours, from the far end.
std::vector<Quad> path_equilibrium(const std::vector<double>& weights, double scale, bool self_loops, Quad a,
                                   Quad x) {
  const size_t length = weights.size() + 1;
  const Quad own = self_loops ? 1 : 0;
  std::vector<Quad> degree(length, own), ratio(length), z(length);
  for (size_t j = 0; j < weights.size(); ++j)
    for (const size_t end : {j, j + 1}) degree[end] += Quad(weights[j]) / scale;
  const auto next_to = [&](size_t j) {  // S between j - 1 and j
    return Quad(weights[j - 1]) / scale / square_root(degree[j - 1] * degree[j]);
  };
  Quad below = 0;
  for (size_t j = length - 1; j > 0; --j) {  // z_j = ratio_j z_{j-1}
    ratio[j] = a * next_to(j) / (1 - a * own / degree[j] - below);
    below = a * next_to(j) * ratio[j];
  }
  z[0] = x / (1 - a * own / degree[0] - below);
  for (size_t j = 1; j < length; ++j) z[j] = z[j - 1] * ratio[j];
  return z;
}

struct Path {
  Graph graph;
  std::vector<double> weights;
};

Path weighted_path(int64_t length, double orders, uint64_t seed) {
  Path path{with_random_weights(chain_graph(1, length), orders, seed), {}};
  path.weights = path.graph.weight;  // the arc k -> k+1 is the only one of row k
  return path;
}

class WeightedPath : public testing::TestWithParam<double> {};

TEST_P(WeightedPath, EveryEntryIsRightRelativeToItselfOverSixHundredHops) {
  const int64_t length = 601;
  const double weight = 0.7;
  const auto F = torch::full({1, 1}, weight, torch::kFloat64);
  for (const bool self_loops : {true, false}) {
    const Path path = weighted_path(length, 10, 3);
    const auto o = options_of(Direction::undirected, Normalisation::sym, self_loops);
    SolverOptions options;
    options.gamma = GetParam();
    auto X = torch::zeros({length, 1}, torch::kFloat64);
    X[0][0] = 1.5;
    const auto Z = make_solver("direct", propagation(path.graph, o), options, 1)->solve(F, X)->rows();
    const auto exact = path_equilibrium(path.weights, scale_of_weights(path.graph), self_loops,
                                        shift_of(weight, options.gamma), 1.5);
    for (int64_t j = 0; j < length; ++j)
      ASSERT_LE(absolute(entry(Z, j) / exact[j] - 1), 1e-12) << "hop " << j;
    if (options.gamma == 0.8) {
      ASSERT_TRUE(Z.exponents.defined());
      EXPECT_LT(Z.exponents[length - 1].item<int64_t>(), -1100)
          << "below the range of a double, and not lost";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Gammas, WeightedPath, testing::Values(0.8, 0.99, 1.0),
                         [](const auto& p) { return std::to_string(static_cast<int>(100 * p.param)); });

TEST(WeightedDirect, SinglePrecisionKeepsItsDigitsBelowItsRange) {
  const int64_t length = 300;
  const Path path = weighted_path(length, 10, 5);
  SolverOptions options;
  options.dtype = torch::kFloat32;
  auto X = torch::zeros({length, 1});
  X[0][0] = 1;
  const auto Z =
      make_solver("direct", propagation(path.graph), options, 1)->solve(torch::ones({1, 1}), X)->rows();
  const Quad a = Quad(static_cast<float>(0.8)), complement = Quad(static_cast<float>(1 - 0.8));
  const auto exact =
      path_equilibrium(path.weights, scale_of_weights(path.graph), true, a / (a + complement), 1);
  ASSERT_TRUE(Z.exponents.defined());
  for (int64_t j = 0; j < length; ++j) ASSERT_LE(absolute(entry(Z, j) / exact[j] - 1), 5e-4) << "hop " << j;
}

// The nodes where both directions have different weights, and some of what is sent is dropped.
TEST(WeightedDirect, KeepsItsAccuracyAlongADirectedPathThatLosesWeightOnTheWay) {
  const int64_t length = 60;
  std::vector<int64_t> source, target;
  for (int64_t v = 0; v + 1 < length; ++v)
    for (const auto& [from, to] : {std::pair<int64_t, int64_t>{v, v + 1}, {v + 1, v}, {v, length}}) {
      source.push_back(from);
      target.push_back(to);
    }
  const Graph graph = with_random_weights(Graph::from_arcs(length + 1, source, target), 10, 9);
  const auto o = options_of(Direction::in, Normalisation::sym, false);
  SolverOptions options;
  auto X = torch::zeros({length + 1, 1}, torch::kFloat64);
  X[0][0] = 1;
  const auto F = torch::ones({1, 1}, torch::kFloat64);
  const auto Z = make_solver("direct", propagation(graph, o), options, 1)->solve(F, X)->rows();
  std::vector<Quad> x(length + 1, 0);
  x[0] = 1;
  const auto z = quad_solve(quad_S(graph, o), shift_of(1, options.gamma), x);
  EXPECT_LT(absolute(z[length - 1]), 1e-60);
  for (int64_t v = 0; v < length; ++v) ASSERT_LE(absolute(entry(Z, v) / z[v] - 1), 1e-12) << "node " << v;
}

TEST(WeightedDirect, EqualChainsWithDifferentWeightsAreDifferentProblems) {
  Graph graph = chain_graph(3, 8);
  graph.weight.assign(graph.target.size(), 1.0);
  graph.weight[9] = 5;  // in the second chain
  const auto S = propagation(graph);
  const auto F = random_matrix(3, 3, 4), X = torch::ones({24, 3}, torch::kFloat64);
  for (const char* name : {"direct", "spectral", "krylov"}) {
    const auto Z = make_solver(name, S, {}, 3)->solve(F, X)->rows().plain();
    EXPECT_LE(relative_error(Z, test::dense_equilibrium(*S, F, X, 0.8)), 1e-12) << name;
    EXPECT_GT(relative_error(Z.narrow(0, 8, 8), Z.narrow(0, 0, 8)), 1e-3) << name;
  }
}

// ---- the planner

TEST(SignalHops, CountsHopsWhereThereAreNoWeights) {
  const Propagation S = make_propagation(chain_graph(2, 30));
  const double r = decay_per_hop(0.8, 4);
  EXPECT_EQ(longest_signal_hops(S, r), 29);
  EXPECT_EQ(farthest_hops(S, {0, 35}, r), 29);
  EXPECT_EQ(farthest_hops(S, {10}, r), 19);
  EXPECT_EQ(farthest_hops(S, {}, r), 0);
}

TEST(SignalHops, AnArcOfSmallWeightCountsForTheHopsThatLoseAsMuch) {
  Graph graph = chain_graph(1, 11);
  graph.weight.assign(10, 1.0);
  graph.weight[5] = 1e-12;
  PropagationOptions o;
  o.weight_scale = 1;
  const Propagation S = make_propagation(graph, o);
  const double r = decay_per_hop(0.8, 1);
  const auto hops = farthest_hops(S, {0}, r);
  EXPECT_NEAR(static_cast<double>(hops), 10 + std::log(1e-12) / std::log(r), 3);
  EXPECT_EQ(longest_signal_hops(S, r), hops);
  EXPECT_EQ(farthest_hops(S, {0}, 1), 10) << "a signal that keeps its size";
}

TEST(SignalHops, ThePlannerTakesDirectForAShortPathWithAFaintArc) {
  Graph graph = chain_graph(1, 12);
  const auto plan = [&] {
    const Propagation S = make_propagation(graph);
    PlanRequest request{S};
    request.width = 2;
    request.outputs = 2;
    return plan_solver(request);
  };
  EXPECT_FALSE(plan().chosen_for_range);
  graph.weight.assign(11, 1.0);
  EXPECT_FALSE(plan().chosen_for_range);
  graph.weight[4] = 1e-18;
  EXPECT_TRUE(plan().chosen_for_range);
}

}  // namespace
}  // namespace eignn
