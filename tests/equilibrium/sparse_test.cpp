// What is particular to the sparse solver; solvers_test.cpp holds it to the dense solve as it does the
// others.
#include <gtest/gtest.h>

#include "eignn/error.h"
#include "eignn/solver.h"
#include "equilibrium/tolerance.h"
#include "support/oracle.h"

namespace eignn {
namespace {

using test::random_matrix;
using test::relative_error;

std::shared_ptr<const Propagation> propagation(const Graph& graph,
                                               Direction direction = Direction::undirected) {
  return std::make_shared<Propagation>(make_propagation(graph, {direction, Normalisation::sym, true}));
}

Graph star(int64_t leaves) {
  std::vector<int64_t> source(leaves, 0), target;
  for (int64_t k = 1; k <= leaves; ++k) target.push_back(k);
  return Graph::from_arcs(leaves + 1, source, target);
}

// One μ near 1 and the others small, or, with a small weight, all of a size.
torch::Tensor weights(int64_t m, double leading) {
  return random_matrix(m, m, 1) + leading * random_matrix(m, 1, 2).mm(random_matrix(1, m, 3));
}

TEST(SparseSolver, KeepsItsBoundOnGraphsWithHubs) {
  for (const auto dtype : {torch::kFloat32, torch::kFloat64})
    for (const Graph& graph : {rmat_graph(3000, 30'000, 1), star(5000), chain_graph(1, 3000)})
      for (const Direction direction : {Direction::undirected, Direction::in})
        for (const double gamma : {0.8, 1.0}) {
          const auto S = propagation(graph, direction);
          SolverOptions options;
          options.dtype = dtype;
          options.gamma = gamma;
          const auto F = weights(20, 0.5).to(dtype), X = random_matrix(S->nodes, 20, 4).to(dtype);
          const auto solved = make_solver("sparse", S, options, 20)->solve(F, X);
          const auto Z = solved->rows().plain();
          const double bound = backward_tolerance(options) * (X.norm() + Z.norm()).item<double>();
          EXPECT_LE(residual(*S, Z, F, X, gamma, 1e-12) * X.norm().item<double>(), bound);
          const auto W = solved->pull({}, {X, {}}, true).X.plain();
          EXPECT_LE(residual(*S, W, F, X, gamma, 1e-12, true) * X.norm().item<double>(),
                    backward_tolerance(options) * (X.norm() + W.norm()).item<double>());
        }
}

// Columns go in blocks and leave them a cache line at a time.
TEST(SparseSolver, AgreesWithOthersForAnyNumberOfFeatures) {
  for (const int64_t m : {1, 7, 8, 31, 40, 64, 100})
    for (const Direction direction : {Direction::undirected, Direction::out}) {
      const auto S = propagation(rmat_graph(120, 500, 2), direction);
      const auto F = weights(m, 0.3), X = random_matrix(120, m, 5), Y = random_matrix(120, m, 6);
      const auto a = make_solver("sparse", S, {}, m)->solve(F, X),
                 b = make_solver("direct", S, {}, m)->solve(F, X);
      EXPECT_LE(relative_error(a->rows().plain(), b->rows().plain()), 1e-12) << m;
      const auto pulled = a->pull({}, {Y, {}}, true), expected = b->pull({}, {Y, {}}, true);
      EXPECT_LE(relative_error(pulled.F, expected.F), 1e-11) << m;
      EXPECT_LE(relative_error(pulled.X.plain(), expected.X.plain()), 1e-12) << m;
    }
}

TEST(SparseSolver, TakesTheColumnNextToTheEdgeByConjugateGradients) {
  const auto S = propagation(chain_graph(3, 200));
  SolverOptions options;
  options.gamma = 1;
  const auto F = weights(12, 30), X = random_matrix(600, 12, 7), Y = random_matrix(600, 12, 8);
  const auto a = make_solver("sparse", S, options, 12)->solve(F, X),
             b = make_solver("spectral", S, options, 12)->solve(F, X);
  EXPECT_LE(a->iterations, 2000);  // Chebyshev's method alone would take many thousands
  EXPECT_LE(relative_error(a->rows().plain(), b->rows().plain()), 1e-8);
  EXPECT_LE(relative_error(a->pull({}, {Y, {}}, false).F, b->pull({}, {Y, {}}, false).F), 1e-8);
}

TEST(SparseSolver, IsAsRightForTinyAndHugeRightHandSides) {
  const auto S = propagation(karate_club());
  SolverOptions options;
  options.dtype = torch::kFloat32;
  const auto F = weights(6, 1).to(torch::kFloat32), X = random_matrix(34, 6, 9).to(torch::kFloat32);
  const auto solver = make_solver("sparse", S, options, 6);
  const auto Z = solver->solve(F, X)->rows().plain();
  for (const int exponent : {-100, -60, -24, 24, 60, 100}) {
    const auto scaled = solver->solve(F, X * std::ldexp(1.0F, exponent))->rows().plain();
    EXPECT_LE(relative_error(scaled.to(torch::kFloat64) * std::ldexp(1.0, -exponent), Z), 1e-6) << exponent;
  }
  EXPECT_EQ(solver->solve(F, torch::zeros_like(X))->rows().plain().abs().max().item<double>(), 0);
}

TEST(SparseSolver, SolvesAgainToTheSameBits) {
  const auto S = propagation(rmat_graph(2000, 20'000, 3));
  SolverOptions options;
  options.dtype = torch::kFloat32;
  const auto F = weights(70, 0.5).to(torch::kFloat32), X = random_matrix(2000, 70, 10).to(torch::kFloat32);
  const auto solver = make_solver("sparse", S, options, 70);
  const auto first = solver->solve(F, X);
  const auto Z = first->rows().plain(), dF = first->pull({}, {X, {}}, false).F;
  solver->solve(2 * F, X);  // nothing is left behind by it
  const auto second = make_solver("sparse", S, options, 70)->solve(F, X);
  EXPECT_TRUE(torch::equal(solver->solve(F, X)->rows().plain(), Z));
  EXPECT_TRUE(torch::equal(second->rows().plain(), Z));
  EXPECT_TRUE(torch::equal(second->pull({}, {X, {}}, false).F, dF));
}

TEST(SparseSolver, SaysSoWhenItDoesNotConverge) {
  SolverOptions options;
  options.gamma = 1;
  options.max_iterations = 50;
  const auto directed = make_solver("sparse", propagation(rmat_graph(30, 100, 4), Direction::in), options, 4);
  const auto F = weights(4, 1e6);
  try {
    directed->solve(F, random_matrix(30, 4, 11));
    FAIL();
  } catch (const InputError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("sparse did not converge in 50 products"), std::string::npos) << text;
    EXPECT_NE(text.find("use --solver direct"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace eignn
