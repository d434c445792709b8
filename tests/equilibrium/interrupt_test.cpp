// A caller ends the iterations of a solver, and the solver is as good as before.
#include "eignn/interrupt.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "eignn/error.h"
#include "eignn/solver.h"

namespace eignn {
namespace {

struct Problem {
  std::unique_ptr<Solver> solver;
  torch::Tensor F, X;
};

Problem problem(const char* solver) {
  torch::manual_seed(0);
  const auto S = std::make_shared<Propagation>(make_propagation(karate_club()));
  SolverOptions options;
  options.gamma = 1;
  const auto F = torch::randn({1, 8}, torch::kFloat64);  // of rank one: an eigenvalue of g next to 1
  return {make_solver(solver, S, options, 8), F.t().mm(F), torch::randn({34, 8}, torch::kFloat64)};
}

class IteratingSolver : public testing::TestWithParam<const char*> {};

TEST_P(IteratingSolver, StopsWhenItsCallerSaysSo) {
  const auto [solver, F, X] = problem(GetParam());
  int64_t asked = 0;
  {
    const InterruptScope scope([&] { return ++asked == 2; });
    EXPECT_THROW(solver->solve(F, X)->rows(), InterruptedError);
  }
  EXPECT_EQ(asked, 2);
}

TEST_P(IteratingSolver, SolvesAfterAnInterruptionAsIfThereHadBeenNone) {
  const auto [solver, F, X] = problem(GetParam());
  const auto easy = torch::randn({8, 8}, torch::kFloat64);
  {
    const InterruptScope scope([] { return true; });
    EXPECT_THROW(solver->solve(F, X)->rows(), InterruptedError);
  }
  const auto Z = solver->solve(easy, X)->rows().plain();
  const auto [other, same_F, same_X] = problem(GetParam());
  EXPECT_TRUE(torch::equal(Z, other->solve(easy, same_X)->rows().plain()));
}

INSTANTIATE_TEST_SUITE_P(Solvers, IteratingSolver, testing::Values("picard", "sparse", "krylov"));

TEST(InterruptScope, TheInnermostIsAskedAndTheOuterOneAfterIt) {
  const InterruptScope outer([] { return true; });
  {
    const InterruptScope inner([] { return false; });
    EXPECT_NO_THROW(check_interrupt());
  }
  EXPECT_THROW(check_interrupt(), InterruptedError);
}

TEST(InterruptScope, WithoutOneNobodyIsAsked) {
  EXPECT_NO_THROW(check_interrupt());
}

}  // namespace
}  // namespace eignn
