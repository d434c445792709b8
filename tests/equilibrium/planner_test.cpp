#include <gtest/gtest.h>

#include "eignn/solver.h"
#include "support/oracle.h"

namespace eignn {
namespace {

Plan plan(const Graph& graph, int64_t features, PropagationOptions propagation = {}) {
  return plan_solver(make_propagation(graph, propagation), features, {});
}

TEST(Planner, LongChainsGoToTheSolverThatKeepsTheSignal) {
  for (int64_t length : {10, 50, 200})
    EXPECT_EQ(plan(chain_graph(40, length), 100).solver, "direct") << length;
  EXPECT_EQ(plan(chain_graph(40, 200), 100, {Direction::in, {}, true}).solver, "direct");
}

TEST(Planner, ManyFeaturesOnFewNodesAvoidTheEigendecompositionOfG) {
  EXPECT_EQ(plan(test::random_graph(180, 4, 1), 1703).solver, "krylov");
}

TEST(Planner, DenseGraphsWithFewFeaturesTakeTheClosedForm) {
  EXPECT_EQ(plan(test::random_graph(800, 40, 1), 16).solver, "spectral");
}

TEST(Planner, DirectedGraphsGetASolverThatTakesThem) {
  EXPECT_EQ(plan(test::random_graph(100, 2, 1), 8, {Direction::in, {}, true}).solver, "direct");
  EXPECT_EQ(plan(test::random_graph(3000, 40, 1), 64, {Direction::in, {}, true}).solver, "deflated");
}

TEST(Planner, SaysWhy) {
  EXPECT_NE(plan(chain_graph(4, 200), 100).reason.find("199 hops"), std::string::npos);
}

TEST(Planner, WhereNothingFallsNoPathIsTooLong) {
  SolverOptions options;
  options.gamma = 1;  // and one feature: μ = 1, the signal keeps its size
  const Plan plan = plan_solver(make_propagation(chain_graph(1, 50)), 1, options);
  EXPECT_EQ(plan.reason.find("-9"), std::string::npos) << plan.reason;
}

TEST(Planner, AutoIsWhatThePlannerSays) {
  const auto S = std::make_shared<Propagation>(make_propagation(chain_graph(4, 200)));
  EXPECT_STREQ(make_solver("auto", S, {}, 100)->name(), "direct");
}

}  // namespace
}  // namespace eignn
