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

TEST(Planner, WideGraphsWithFewFeaturesTakeSparseProductsOnACpu) {
  // Two components of the shape of PPI graphs: their eigenbases have eighty times the entries of S.
  const Propagation S = make_propagation(test::random_graph(4800, 14.0, 1));
  SolverOptions on_cpu;
  on_cpu.dtype = torch::kFloat32;
  EXPECT_EQ(plan_solver(S, 50, on_cpu, true).solver, "sparse");
  SolverOptions without_bound = on_cpu;
  without_bound.gamma = 1;
  EXPECT_EQ(plan_solver(S, 50, without_bound, true).solver, "spectral");
  SolverOptions on_gpu = on_cpu;
  on_gpu.device = torch::kCUDA;
  EXPECT_EQ(plan_solver(S, 50, on_gpu, true).solver, "spectral");
}

TEST(Planner, WideFeaturesThatAreReadEverywhereTakeProductsWithBoth) {
  const Propagation S = make_propagation(test::random_graph(600, 10, 1));
  SolverOptions on_cpu;
  on_cpu.dtype = torch::kFloat32;
  EXPECT_EQ(plan_solver(S, 1500, on_cpu, /*needs_all=*/true).solver, "deflated");
  EXPECT_EQ(plan_solver(S, 1500, on_cpu, /*needs_all=*/false).solver, "krylov");
  on_cpu.gamma = 1;
  EXPECT_EQ(plan_solver(S, 1500, on_cpu, /*needs_all=*/true).solver, "krylov");
}

TEST(Planner, AGpuTakesThemToo) {
  SolverOptions on_gpu;
  on_gpu.dtype = torch::kFloat32;
  on_gpu.device = torch::kCUDA;
  // Of the sizes of Chameleon and Squirrel, where both were measured; arcs count both ways.
  const auto plan = [&](int64_t nodes, double degree, int64_t features) {
    return plan_solver(make_propagation(test::random_graph(nodes, degree, 1)), features, on_gpu, true).solver;
  };
  EXPECT_EQ(plan(2277, 14, 2325), "deflated");
  EXPECT_EQ(plan(5201, 38, 2089), "deflated");
}

TEST(Planner, DirectedGraphsGetASolverThatTakesThem) {
  EXPECT_EQ(plan(test::random_graph(100, 2, 1), 8, {Direction::in, {}, true}).solver, "direct");
  EXPECT_EQ(plan(test::random_graph(3000, 40, 1), 64, {Direction::in, {}, true}).solver, "sparse");
  // Where g is larger than the graph its eigendecomposition would be most of the work.
  EXPECT_EQ(plan(test::random_graph(300, 100, 1), 20'000, {Direction::in, {}, true}).solver, "deflated");
}

TEST(Planner, GraphsTooLargeForAnEigenbasisGoToSparseProducts) {
  const Plan rmat = plan(rmat_graph(100'000, 1'000'000, 1), 64);
  EXPECT_EQ(rmat.solver, "sparse");
  EXPECT_NE(rmat.reason.find("eigenbasis"), std::string::npos) << rmat.reason;
  EXPECT_EQ(plan(rmat_graph(100'000, 1'000'000, 1), 64, {Direction::in, {}, true}).solver, "sparse");
  // A long chain is eliminated without any fill-in, however long it is.
  EXPECT_EQ(plan(chain_graph(1, 100'000), 64).solver, "direct");
}

TEST(Planner, ManySmallComponentsKeepTheirEigenbases) {
  const int64_t cliques = 2000, size = 40;
  std::vector<int64_t> source, target;
  for (int64_t c = 0; c < cliques; ++c)
    for (int64_t i = 0; i < size; ++i)
      for (int64_t j = 0; j < i; ++j) {
        source.push_back(c * size + i);
        target.push_back(c * size + j);
      }
  EXPECT_EQ(plan(Graph::from_arcs(cliques * size, source, target), 64).solver, "spectral");
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
