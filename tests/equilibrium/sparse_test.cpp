// What is particular to the sparse solver; solvers_test.cpp holds it to the dense solve as it does the
// others.
#include <gtest/gtest.h>

#include "eignn/error.h"
#include "eignn/solver.h"
#include "equilibrium/tolerance.h"
#include "graph/resident_memory.h"
#include "support/message_of.h"
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

// Few nodes of an X that stays: Z is not solved for, which `iterations` would tell.
TEST(SparseSolver, AgreesWithOthersAtFewNodes) {
  for (const int64_t m : {1, 7, 8, 31, 40, 64, 100})
    for (const double leading : {0.3, 30.0}) {
      const auto S = propagation(rmat_graph(400, 4000, 2));
      const auto F = weights(m, leading), X = random_matrix(400, m, 5), C = random_matrix(m, 3, 6);
      const auto index = torch::tensor({17, 0, 399, 3, 8, 250}, torch::kInt64);
      const auto Y = random_matrix(6, m, 7), D = random_matrix(6, 3, 8);
      const auto a = make_solver("sparse", S, {}, m)->solve(F, X),
                 b = make_solver("direct", S, {}, m)->solve(F, X);
      EXPECT_LE(relative_error(a->rows(index).plain(), b->rows(index).plain()), 1e-13) << m;
      EXPECT_LE(relative_error(a->project(index, C), b->project(index, C)), 1e-13) << m;
      const auto projected = a->pull_projected(index, D, C), expected = b->pull_projected(index, D, C);
      // With one feature g is the constant 1, and the gradient is the rounding of 0.
      const double scale = m == 1 ? 1e-6 : 1;
      EXPECT_LE(relative_error(projected.F, expected.F) * scale, 1e-12) << m;
      EXPECT_LE(relative_error(projected.C, expected.C), 1e-13) << m;
      EXPECT_LE(relative_error(a->pull(index, {Y, {}}, false).F, b->pull(index, {Y, {}}, false).F) * scale,
                1e-12)
          << m;
      EXPECT_EQ(a->iterations(), 0);
      EXPECT_LE(
          relative_error(a->pull(index, {Y, {}}, true).X.plain(), b->pull(index, {Y, {}}, true).X.plain()),
          1e-13);
      EXPECT_GT(a->iterations(), 0);
    }
}

// What an iteration proves of its residual the series has to keep, up to its longest of a hundred terms.
TEST(SparseSolver, KeepsItsBoundByTheSeriesToo) {
  for (const auto dtype : {torch::kFloat32, torch::kFloat64})
    for (const Graph& graph : {rmat_graph(1000, 30'000, 1), star(2000), chain_graph(1, 1000)})
      for (const double gamma : {0.5, 0.8, dtype == torch::kFloat32 ? 0.96 : 0.9}) {
        const auto S = propagation(graph);
        SolverOptions options;
        options.dtype = dtype;
        options.gamma = gamma;
        // Two features, so that all nodes are few; μ = 0.99995 and 0.01
        const auto F = torch::tensor({{1.0, 0.0}, {0.0, 0.1}}, dtype);
        auto X = random_matrix(S->nodes, 2, 4).to(dtype);
        X.select(1, 0).add_(1);  // leans towards the eigenvector of 1, on which the series is slowest
        const auto all = torch::arange(S->nodes);
        const auto solved = make_solver("sparse", S, options, 2)->solve(F, X);
        auto Z = torch::empty_like(X);
        for (const auto& some : all.chunk(16)) Z.index_copy_(0, some, solved->rows(some).plain());
        EXPECT_EQ(solved->iterations(), 0) << gamma;
        EXPECT_LE(residual(*S, Z, F, X, gamma, 1e-12) * X.norm().item<double>(),
                  backward_tolerance(options) * (X.norm() + Z.norm()).item<double>())
            << gamma;
      }
}

TEST(SparseSolver, IteratesWhereTheSeriesIsNoWay) {
  const auto S = propagation(rmat_graph(400, 4000, 2));
  const auto F = weights(8, 30), X = random_matrix(400, 8, 5), index = torch::arange(10);
  const auto iterates = [&](const SolverOptions& options, const torch::Tensor& x) {
    const auto solved = make_solver("sparse", S, options, 8)->solve(F, x);
    solved->rows(index);
    return solved->iterations() > 0;
  };
  SolverOptions options;
  EXPECT_FALSE(iterates(options, X));
  EXPECT_TRUE(iterates(options, X * 1e20));
  EXPECT_TRUE(iterates(options, X.clone().set_requires_grad(true)));
  options.fixed_features = false;
  EXPECT_TRUE(iterates(options, X));
  options = {};
  options.tolerance = 5e-16;
  EXPECT_TRUE(iterates(options, X));
  options = {};
  options.gamma = 0.99;
  EXPECT_TRUE(iterates(options, X));
}

// g next to nothing, and nothing; no nodes; cotangents beyond the range that two factors share.
TEST(SparseSolver, AgreesWithOthersAtFewNodesAtTheEdges) {
  const auto S = propagation(rmat_graph(400, 4000, 2));
  const auto X = random_matrix(400, 8, 5), Y = random_matrix(3, 8, 6);
  const auto index = torch::tensor({17, 0, 399}, torch::kInt64), none = torch::empty({0}, torch::kInt64);
  SolverOptions options;
  options.epsilon = 1;
  for (const double size : {1.0, 1e-4, 1e-8, 0.0}) {
    const auto F = weights(8, 1) * size;
    const auto a = make_solver("sparse", S, options, 8)->solve(F, X),
               b = make_solver("direct", S, options, 8)->solve(F, X);
    EXPECT_LE(relative_error(a->rows(index).plain(), b->rows(index).plain()), 1e-13) << size;
    for (const double length : {1.0, 1e-20, 1e20})
      EXPECT_LE(relative_error(a->pull(index, {Y * length, {}}, false).F,
                               b->pull(index, {Y * length, {}}, false).F),
                1e-12)
          << size << " " << length;
    EXPECT_EQ(a->rows(none).plain().size(0), 0);
    EXPECT_EQ(a->pull(none, {Y.narrow(0, 0, 0), {}}, false).F.abs().max().item<double>(), 0);
  }
}

// As a run does that is taken up again.
TEST(SparseSolver, HasTheSameBitsAtFewNodesWhateverWasAskedBefore) {
  const auto S = propagation(rmat_graph(2000, 20'000, 3));
  SolverOptions options;
  options.dtype = torch::kFloat32;
  const auto X = random_matrix(2000, 20, 10).to(torch::kFloat32);
  const auto index = torch::arange(100, 140), other = torch::arange(300, 320);
  const auto Y = random_matrix(40, 20, 11).to(torch::kFloat32);
  const auto used = make_solver("sparse", S, options, 20);
  for (const double leading : {0.1, 1.0, 10.0}) {  // more terms each time
    const auto F = weights(20, leading).to(torch::kFloat32);
    used->solve(F, X)->rows(other);
    const auto before = used->solve(F, X), fresh = make_solver("sparse", S, options, 20)->solve(F, X);
    EXPECT_TRUE(torch::equal(before->rows(index).plain(), fresh->rows(index).plain()));
    EXPECT_TRUE(torch::equal(before->pull(index, {Y, {}}, false).F, fresh->pull(index, {Y, {}}, false).F));
    EXPECT_EQ(before->iterations(), 0);
  }
}

TEST(SparseSolver, KnowsAChangedX) {
  const auto S = propagation(rmat_graph(400, 4000, 2));
  const auto F = weights(8, 1), index = torch::arange(10);
  auto X = random_matrix(400, 8, 5);
  const auto solver = make_solver("sparse", S, {}, 8);
  const auto before = solver->solve(F, X)->rows(index).plain();
  X.mul_(2);
  EXPECT_LE(relative_error(solver->solve(F, X)->rows(index).plain(), 2 * before), 1e-15);
}

TEST(SparseSolver, TakesTheColumnNextToTheEdgeByConjugateGradients) {
  const auto S = propagation(chain_graph(3, 200));
  SolverOptions options;
  options.gamma = 1;
  const auto F = weights(12, 30), X = random_matrix(600, 12, 7), Y = random_matrix(600, 12, 8);
  const auto a = make_solver("sparse", S, options, 12)->solve(F, X),
             b = make_solver("spectral", S, options, 12)->solve(F, X);
  EXPECT_LE(a->iterations(), 2000);  // Chebyshev's method alone would take many thousands
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
  } catch (const ConvergenceError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("sparse did not converge in 50 products"), std::string::npos) << text;
    EXPECT_NE(text.find("use solver direct"), std::string::npos) << text;
  }
}

TEST(Sparse, WithoutRoomForZTheSeriesProjectsAtAllNodesAsTheIterationDoes) {
  constexpr int64_t n = 20'000, m = 256;
  const auto S = std::make_shared<const Propagation>(make_propagation(test::random_graph(n, 5, 8), {}));
  const auto X = test::random_matrix(n, m, 9), F = test::random_matrix(m, m, 10),
             C = test::random_matrix(m, 3, 11);
  SolverOptions options;
  options.gamma = 0.5;
  options.tolerance = 1e-12;
  const auto expected = make_solver("sparse", S, options, m)->project(F, X, C)->rows({});
  // Z has 41 MB, and its blocks 10 more.
  options.memory = resident_memory() + (uint64_t{25} << 20);
  const auto limited = make_solver("sparse", S, options, m);
  EXPECT_LE(test::relative_error(limited->project(F, X, C)->rows({}), expected), 1e-11);
  EXPECT_CONTAINS(message_of<ResourceError>([&] { limited->solve(F, X)->rows(); }),
                  "Z at all 20000 nodes needs 49M");
  options.memory = 1;
  EXPECT_CONTAINS(
      message_of<ResourceError>([&] { make_solver("sparse", S, options, m)->project(F, X, C)->rows({}); }),
      "Z C at all 20000 nodes");
}

TEST(Sparse, ALimitThatIsTooSmallForZIsRefused) {
  constexpr int64_t n = 400, m = 6;
  const auto S = std::make_shared<const Propagation>(make_propagation(test::random_graph(n, 5, 8), {}));
  SolverOptions options;
  options.memory = 1;
  const auto solver = make_solver("sparse", S, options, m);
  const auto X = test::random_matrix(n, m, 9), F = test::random_matrix(m, m, 10);
  EXPECT_CONTAINS(message_of<ResourceError>([&] { solver->solve(F, X)->rows(); }),
                  "Z at all 400 nodes needs");
}

}  // namespace
}  // namespace eignn
