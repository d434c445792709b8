// The large eigenvalues of g that solvers treat apart, and the solver that lives off them.
#include "equilibrium/deflation.h"

#include <gtest/gtest.h>

#include "eignn/error.h"
#include "eignn/solver.h"
#include "equilibrium/tolerance.h"
#include "support/oracle.h"

namespace eignn {
namespace {

using test::random_matrix;
using test::relative_error;

// F with singular values whose squares are a trained one's: a handful of large ones and a falling rest.
torch::Tensor trained(int64_t m, double rest) {
  const auto large = torch::tensor({0.7, 0.5, 0.35, 0.2, 0.1}, torch::kFloat64);
  const auto small = rest * torch::pow(0.97, torch::arange(m - 5, torch::kFloat64));
  const auto Q = std::get<0>(torch::linalg_qr(random_matrix(m, m, 3)));
  return torch::cat({large, small}).sqrt().unsqueeze(1) * Q.t();
}

TEST(Deflation, KeepsItsDirectionsApartInSinglePrecision) {
  const int64_t m = 400;
  const Contraction contraction(trained(m, 0.02).to(torch::kFloat32), 0.8, 1e-12);
  const Deflation found = deflate(contraction);
  // Five powers of g on sixteen columns lean on each other; what is told apart must be told apart for good.
  const int64_t k = found.V.size(1);
  const auto V = found.V.to(torch::kFloat64), g = contraction.g().to(torch::kFloat64);
  EXPECT_LE((V.t().mm(V) - torch::eye(k, torch::kFloat64)).abs().max().item<double>(), 1e-5);
  const auto mu = torch::linalg_eigvalsh(g), theta = found.theta;
  EXPECT_LE((theta.narrow(0, k - 5, 5) - mu.narrow(0, m - 5, 5)).abs().max().item<double>(), 1e-5);
  // No more is left of g than its eigenvalues from the tenth on.
  const auto rest = g - V.mm(theta.unsqueeze(1) * V.t());
  EXPECT_LE(torch::linalg_eigvalsh(rest).abs().max().item<double>(), mu[m - 10].item<double>());
}

TEST(Deflation, FindsTheLargeEigenvalues) {
  const int64_t m = 80;
  const auto Q = std::get<0>(torch::linalg_qr(random_matrix(m, m, 8)));
  auto mu = torch::linspace(0.02, 0, m, torch::kFloat64);
  for (int64_t i = 0; i < 4; ++i) mu[i] = 0.7 - 0.1 * static_cast<double>(i);
  mu /= mu.norm();
  const Contraction contraction((2 * mu).sqrt().unsqueeze(1) * Q.t(), 0.8, /*epsilon=*/0.02);
  mu *= 2 / 2.02;
  const auto g = contraction.g();
  const Deflation d = deflate(contraction);
  const int64_t k = d.V.size(1);
  EXPECT_LE(relative_error(d.V.t().mm(d.V), torch::eye(k, torch::kFloat64)), 1e-7);  // pivots from 1e-9 on
  EXPECT_LE(relative_error(d.theta.flip(0).narrow(0, 0, 4), mu.narrow(0, 0, 4)), 1e-4);
  // What is left of g is small.
  const auto rest = g - d.V.mm(torch::diag(d.theta)).mm(d.V.t());
  EXPECT_LE(torch::linalg_eigvalsh(rest).abs().max().item<double>(), 0.03);
}

TEST(Deflation, LeavesSmallAndEmptyProblemsAlone) {
  EXPECT_TRUE(deflate({random_matrix(7, 7, 9), 0.8, 1e-12}).empty());
  EXPECT_TRUE(deflate({torch::zeros({64, 64}, torch::kFloat64), 0.8, 1e-12}).empty());
}

TEST(Deflation, TakesWhatRankThereIs) {
  const auto a = random_matrix(64, 2, 10);
  const Contraction contraction(a.t(), 0.8, 1e-12);
  const auto d = deflate(contraction);
  EXPECT_EQ(d.V.size(1), 2);
  EXPECT_LE(relative_error(d.V.mm(torch::diag(d.theta)).mm(d.V.t()), contraction.g()), 1e-10);
}

struct Wide {
  Direction direction;
  double density;  // of X
};

class DeflatedSolver : public testing::TestWithParam<Wide> {};

// Against `direct` in double: what a solve leaves is within its bound though it never formed the last
// residual.
TEST_P(DeflatedSolver, TakesTwoRoundsOnWideFeatures) {
  const int64_t n = 150, m = 320;
  const auto S = std::make_shared<Propagation>(
      make_propagation(test::random_graph(n, 4, 61), {GetParam().direction, Normalisation::sym, true}));
  const auto F = trained(m, 1e-3);
  auto X = random_matrix(n, m, 62);
  X.mul_(random_matrix(n, m, 63).abs() < 1.25 * GetParam().density);  // P(|N(0, 1)| < a) is about 0.8 a
  SolverOptions single;
  single.dtype = torch::kFloat32;
  const auto exact = make_solver("direct", S, {}, m)->solve(F, X);
  const auto solver = make_solver("deflated", S, single, m);
  const auto solved = solver->solve(F.to(torch::kFloat32), X.to(torch::kFloat32));
  EXPECT_LE(solved->iterations(), 2);
  const auto Z = solved->rows().plain().to(torch::kFloat64);
  EXPECT_LE(relative_error(Z, exact->rows().plain()), 2e-6);
  EXPECT_LE(residual(*S, Z, F, X, 0.8, 1e-12) * X.norm().item<double>(),
            backward_tolerance(single) * (X.norm() + Z.norm()).item<double>());

  // The adjoint's first product is with the rows of Y that there are.
  const auto index = torch::tensor({3, 140, 7, 50}, torch::kInt64);
  const auto Y = random_matrix(4, m, 64);
  const auto pulled = solved->pull(index, {Y.to(torch::kFloat32), {}}, /*want_X=*/true);
  const auto reference = exact->pull(index, {Y, {}}, /*want_X=*/true);
  EXPECT_LE(pulled.iterations, 2);
  EXPECT_LE(relative_error(pulled.X.plain().to(torch::kFloat64), reference.X.plain()), 2e-6);
  EXPECT_LE(relative_error(pulled.F.to(torch::kFloat64), reference.F), 2e-5);
}

INSTANTIATE_TEST_SUITE_P(Graphs, DeflatedSolver,
                         testing::Values(Wide{Direction::undirected, 0.05}, Wide{Direction::undirected, 1},
                                         Wide{Direction::in, 0.05}, Wide{Direction::out, 1}));

// A flat spectrum, of which nothing can be treated apart, takes more rounds and gets there all the same.
TEST(Deflated, ReachesItsBoundWithoutLargeEigenvalues) {
  const int64_t n = 60, m = 256;
  const auto S = std::make_shared<Propagation>(make_propagation(test::random_graph(n, 3, 65)));
  const auto F = torch::eye(m, torch::kFloat64) + 0.01 * random_matrix(m, m, 66), X = random_matrix(n, m, 67);
  for (const double gamma : {0.8, 1.0}) {
    SolverOptions options;
    options.gamma = gamma;
    const auto Z = make_solver("deflated", S, options, m)->solve(F, X)->rows().plain();
    EXPECT_LE(relative_error(Z, make_solver("direct", S, options, m)->solve(F, X)->rows().plain()), 1e-13);
  }
}

// A tolerance below round-off cannot be reached, whatever the rounds say of themselves.
TEST(Deflated, SaysWhenRoundingKeepsItFromItsTolerance) {
  const int64_t n = 40, m = 320;
  const auto S = std::make_shared<Propagation>(make_propagation(test::random_graph(n, 3, 75)));
  SolverOptions single;
  single.dtype = torch::kFloat32;
  single.tolerance = 1e-12;
  single.max_iterations = 30;
  const auto F = trained(m, 1e-3).to(torch::kFloat32), X = random_matrix(n, m, 76).to(torch::kFloat32);
  EXPECT_THROW(make_solver("deflated", S, single, m)->solve(F, X), ConvergenceError);
}

// F and the cotangent so small that their product leaves the range of single precision.
TEST(Deflated, ScalesBeforeItMultiplies) {
  const int64_t n = 40, m = 320;
  const auto S = std::make_shared<Propagation>(make_propagation(test::random_graph(n, 3, 77)));
  const auto F = 1e-6 * trained(m, 1e-3), X = random_matrix(n, m, 78), Y = random_matrix(n, m, 79);
  SolverOptions exact, single;
  exact.epsilon = single.epsilon = 1e-16;
  single.dtype = torch::kFloat32;
  const auto reference = make_solver("direct", S, exact, m)->solve(F, 1e-28 * X);
  const auto solved =
      make_solver("deflated", S, single, m)->solve(F.to(torch::kFloat32), (1e-28 * X).to(torch::kFloat32));
  EXPECT_LE(
      relative_error(1e28 * solved->rows().plain().to(torch::kFloat64), 1e28 * reference->rows().plain()),
      5e-6);
  const auto pulled = solved->pull({}, {(1e-28 * Y).to(torch::kFloat32), {}}, true).X.plain();
  EXPECT_LE(relative_error(1e28 * pulled.to(torch::kFloat64),
                           1e28 * reference->pull({}, {1e-28 * Y, {}}, true).X.plain()),
            5e-6);
}

// γ = 1 and a g whose largest eigenvalue is 1 to working precision.
TEST(Deflated, TakesTheEdge) {
  const int64_t n = 30, m = 64;
  const auto S = std::make_shared<Propagation>(
      make_propagation(test::random_graph(n, 3, 80), {Direction::in, Normalisation::sym, false}));
  const auto F = random_matrix(m, 1, 81).mm(random_matrix(1, m, 82)), X = random_matrix(n, m, 83);
  SolverOptions options;
  options.gamma = 1;
  options.epsilon = 1e-3;
  const auto Z = make_solver("deflated", S, options, m)->solve(F, X)->rows().plain();
  EXPECT_LE(residual(*S, Z, F, X, 1, 1e-3) * X.norm().item<double>(),
            backward_tolerance(options) * (X.norm() + 2 * Z.norm()).item<double>());
}

}  // namespace
}  // namespace eignn
