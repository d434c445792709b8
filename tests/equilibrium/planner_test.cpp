// The choices that `eignn bench planner` led to, by sizes alone; no time is asserted.
#include "eignn/planner.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/oracle.h"

namespace eignn {
namespace {

/// Single precision, γ 0.8, features at every node.
struct PlanProblem {
  Propagation S;
  PlanRequest request{S};

  PlanProblem(const Graph& graph, int64_t width, const PropagationOptions& propagation = {})
      : S(make_propagation(graph, propagation)) {
    request.options.dtype = torch::kFloat32;
    request.width = width;
    request.outputs = 4;
    request.hops = 0;
  }
  PlanProblem(const PlanProblem&) = delete;

  PlanProblem& reads(Reads what, double trained = 0.3) {
    request.reads = what;
    request.trained = static_cast<int64_t>(trained * static_cast<double>(S.nodes));
    request.evaluated = S.nodes / 10;
    return *this;
  }
  PlanProblem& behind_an_encoder() {
    request.options.fixed_features = false;
    return *this;
  }
  PlanProblem& gamma(double value) {
    request.options.gamma = value;
    return *this;
  }
  std::string solver() const { return plan_solver(request).solver; }
  Price price(const std::string& name) const {
    for (const Price& price : plan_solver(request).prices)
      if (price.solver == name) return price;
    return {};
  }
};

const PropagationOptions directed = {Direction::in, Normalisation::sym, true};

Graph rmat(int64_t nodes, int64_t edges_per_node) {
  return rmat_graph(nodes, nodes * edges_per_node, 0);
}

Graph grid(int64_t side) {
  std::vector<int64_t> source, target;
  for (int64_t v = 0; v < side * side; ++v)
    for (const int64_t w : {v % side + 1 < side ? v + 1 : -1, v + side < side * side ? v + side : -1})
      if (w >= 0) {
        source.push_back(v);
        target.push_back(w);
      }
  return Graph::from_arcs(side * side, source, target);
}

Graph tree(int64_t nodes) {
  std::vector<int64_t> source, target;
  for (int64_t v = 1; v < nodes; ++v) {
    source.push_back((v - 1) / 2);
    target.push_back(v);
  }
  return Graph::from_arcs(nodes, source, target);
}

Plan plan(const Graph& graph, int64_t width, const PropagationOptions& propagation = {}) {
  const Propagation S = make_propagation(graph, propagation);
  PlanRequest request{S};
  request.width = width;
  return plan_solver(request);
}

TEST(Planner, LongChainsGoToTheSolverThatKeepsTheSignal) {
  for (int64_t length : {50, 200}) EXPECT_EQ(plan(chain_graph(40, length), 100).solver, "direct") << length;
  PlanProblem short_chains(chain_graph(40, 10), 100);  // too long for single precision alone
  short_chains.request.hops = 9;
  EXPECT_EQ(short_chains.solver(), "direct");
  EXPECT_EQ(plan(chain_graph(40, 200), 100, directed).solver, "direct");
  EXPECT_EQ(plan(chain_graph(1, 100'000), 64).solver, "direct") << "there is no fill-in, however long it is";
}

TEST(Planner, RefusesTheOthersWhereTheyWouldLoseTheSignal) {
  const Plan chains = plan(chain_graph(4, 200), 100);
  EXPECT_TRUE(chains.chosen_for_range);
  EXPECT_NE(chains.reason.find("199 hops"), std::string::npos) << chains.reason;
  for (const Price& price : chains.prices)
    EXPECT_EQ(price.refused.empty(), price.solver == "direct") << price.solver;
}

TEST(Planner, AWayIsOnlyAsLongAsTheFeaturesAreFarAway) {
  PlanProblem path(chain_graph(1, 100'000), 64);
  path.reads(Reads::scores_only, 0.05);
  EXPECT_EQ(path.solver(), "sparse");
  path.request.hops = 99'999;
  EXPECT_EQ(path.solver(), "direct");
}

TEST(Planner, WhereNothingFallsNoPathIsTooLong) {
  PlanProblem path(chain_graph(1, 50), 1);
  path.gamma(1).request.hops = 49;  // one feature: μ = 1, the signal keeps its size
  EXPECT_FALSE(plan_solver(path.request).chosen_for_range);
}

TEST(Planner, SmallGraphsWithFewFeaturesTakeTheClosedForm) {
  EXPECT_EQ(PlanProblem(karate_club(), 34).reads(Reads::labelled_rows).solver(), "spectral");
  EXPECT_EQ(PlanProblem(rmat(100, 5), 16).reads(Reads::scores_only).solver(), "spectral");
  EXPECT_EQ(PlanProblem(rmat(1000, 10), 64).reads(Reads::labelled_rows, 0.5).solver(), "spectral");
  EXPECT_EQ(PlanProblem(grid(30), 16).reads(Reads::scores_only).solver(), "spectral");
}

TEST(Planner, AnEncoderOnAFewHundredNodesDoesNotGoToTheElimination) {
  EXPECT_EQ(PlanProblem(rmat(400, 10), 64).behind_an_encoder().reads(Reads::labelled_rows).solver(),
            "spectral");
  EXPECT_EQ(
      PlanProblem(test::random_graph(183, 3, 1), 64).behind_an_encoder().reads(Reads::labelled_rows).solver(),
      "spectral");
}

TEST(Planner, AnEncoderOnThousandsOfNodesAvoidsEigenbases) {
  EXPECT_EQ(
      PlanProblem(rmat(10'000, 10), 64).behind_an_encoder().gamma(1).reads(Reads::labelled_rows).solver(),
      "sparse");
  EXPECT_EQ(
      PlanProblem(rmat(10'000, 5), 32, directed).behind_an_encoder().reads(Reads::labelled_rows).solver(),
      "sparse");
  EXPECT_EQ(PlanProblem(rmat(2277, 14), 64).behind_an_encoder().reads(Reads::labelled_rows, 0.48).solver(),
            "sparse");
}

TEST(Planner, ManyFeaturesOnFewNodesAvoidTheEigendecompositionOfG) {
  // Of the sizes of the universities.
  for (const int64_t nodes : {183, 251}) {
    PlanProblem university(test::random_graph(nodes, 3, 1), 1703);
    university.reads(Reads::scores_only, 0.48).request.density = 0.05;
    EXPECT_EQ(university.solver(), "krylov") << nodes;
    EXPECT_EQ(university.price("krylov").path, "series");
  }
  EXPECT_EQ(PlanProblem(rmat(1000, 10), 512).reads(Reads::scores_only, 0.1).solver(), "krylov");
}

TEST(Planner, WideFeaturesThatAreReadEverywhereTakeProductsWithBoth) {
  // Of the sizes of Chameleon, Squirrel and Film.
  const auto solver = [](int64_t nodes, double degree, int64_t width) {
    PlanProblem problem(test::random_graph(nodes, degree, 1), width);
    problem.reads(Reads::all_nodes, 0.48).request.density = 0.01;
    return problem.solver();
  };
  EXPECT_EQ(solver(2277, 14, 2325), "deflated");
  EXPECT_EQ(solver(5201, 38, 2089), "deflated");
  EXPECT_EQ(solver(7600, 4, 932), "deflated");
}

TEST(Planner, LargeSparseGraphsTakeProductsWithS) {
  EXPECT_EQ(PlanProblem(rmat(10'000, 10), 64).reads(Reads::scores_only, 0.05).solver(), "sparse");
  EXPECT_EQ(PlanProblem(grid(100), 32).reads(Reads::labelled_rows, 0.2).solver(), "sparse");
  EXPECT_EQ(PlanProblem(rmat(3000, 10), 64, directed).reads(Reads::labelled_rows).solver(), "sparse");
  EXPECT_EQ(PlanProblem(rmat(3000, 10), 64).gamma(1).reads(Reads::all_nodes, 0.5).solver(), "sparse");
}

TEST(Planner, GraphsTooLargeForAnEigenbasisSaySo) {
  PlanProblem large(rmat(100'000, 5), 32);
  EXPECT_EQ(large.reads(Reads::all_nodes, 0.1).solver(), "sparse");
  const Plan plan = plan_solver(large.reads(Reads::scores_only, 0.05).request);
  EXPECT_EQ(plan.solver, "sparse");
  EXPECT_NE(plan.reason.find("eigenbasis"), std::string::npos) << plan.reason;
}

TEST(Planner, FeaturesThatOutnumberTheNodesOfADirectedGraphAvoidTheEigendecompositionOfG) {
  EXPECT_EQ(
      PlanProblem(test::random_graph(300, 100, 1), 20'000, directed).reads(Reads::labelled_rows).solver(),
      "deflated");
}

TEST(Planner, TreesAreEliminated) {
  EXPECT_EQ(PlanProblem(tree(1023), 32).gamma(1).reads(Reads::labelled_rows).solver(), "direct");
  EXPECT_EQ(PlanProblem(tree(4095), 32, directed).reads(Reads::labelled_rows).solver(), "direct");
}

TEST(Planner, PricesTheSeriesByTheNodesThatAreRead) {
  // At few nodes `sparse` needs no product with S; at many it iterates.
  PlanProblem problem(rmat(5000, 10), 64);
  EXPECT_EQ(problem.reads(Reads::scores_only, 0.01).price("sparse").path, "series");
  EXPECT_EQ(problem.reads(Reads::labelled_rows, 0.6).price("sparse").path, "iteration");
  const double epoch = problem.reads(Reads::scores_only, 0.01).price("sparse").epoch_ms;
  EXPECT_GT(problem.reads(Reads::scores_only, 0.02).price("sparse").epoch_ms, epoch);
  EXPECT_EQ(problem.behind_an_encoder().reads(Reads::scores_only, 0.01).price("sparse").path, "iteration")
      << "features that change have no series";
}

TEST(Planner, MoreEpochsPayForMorePreparation) {
  PlanProblem problem(rmat(3000, 10), 64);
  problem.reads(Reads::labelled_rows, 0.6);
  const auto preparation = [&](int64_t epochs) {
    problem.request.epochs = epochs;
    return plan_solver(problem.request).prices[0].preparation_s;
  };
  EXPECT_LE(preparation(1), preparation(1'000'000));
}

TEST(Planner, ListsThePricesFromTheCheapestToTheRefused) {
  const Plan mixed =
      plan_solver(PlanProblem(rmat(3000, 10), 64, directed).reads(Reads::labelled_rows).request);
  ASSERT_EQ(mixed.prices.size(), 6u);
  EXPECT_EQ(mixed.prices[0].solver, mixed.solver);
  for (size_t k = 1; k < mixed.prices.size(); ++k) {
    const Price &before = mixed.prices[k - 1], &after = mixed.prices[k];
    EXPECT_GE(before.refused.empty(), after.refused.empty());
    if (before.refused.empty() && after.refused.empty()) {
      EXPECT_LE(before.seconds(300), after.seconds(300));
    }
  }
  const auto refused = [&](const char* name) {
    return std::any_of(mixed.prices.begin(), mixed.prices.end(),
                       [&](const Price& price) { return price.solver == name && !price.refused.empty(); });
  };
  EXPECT_TRUE(refused("spectral"));
  EXPECT_TRUE(refused("krylov"));
}

TEST(Planner, KeepsItsChoicesOnAGpu) {
  const auto on_gpu = [](PlanProblem&& problem) {
    problem.request.options.device = torch::kCUDA;
    return problem.solver();
  };
  const auto chains = [&](int64_t width) {
    PlanProblem problem(chain_graph(40, 200), width);
    problem.request.options.device = torch::kCUDA;
    problem.request.hops = 199;
    return problem.solver();
  };
  EXPECT_EQ(chains(100), "direct");
  EXPECT_EQ(on_gpu(std::move(PlanProblem(test::random_graph(2277, 14, 1), 2325).reads(Reads::all_nodes))),
            "deflated");
  EXPECT_EQ(on_gpu(std::move(PlanProblem(test::random_graph(5201, 38, 1), 2089).reads(Reads::all_nodes))),
            "deflated");
  EXPECT_EQ(on_gpu(std::move(PlanProblem(test::random_graph(183, 3, 1), 1703).reads(Reads::scores_only))),
            "krylov");
  EXPECT_EQ(on_gpu(std::move(PlanProblem(test::random_graph(4800, 14, 1), 50).reads(Reads::all_nodes))),
            "spectral");
  // Stacks, and features behind an encoder.
  const auto changing = [&](int64_t width, const PropagationOptions& propagation, double gamma) {
    return on_gpu(std::move(PlanProblem(test::random_graph(2277, 14, 1), width, propagation)
                                .behind_an_encoder()
                                .gamma(gamma)
                                .reads(Reads::all_nodes)));
  };
  for (const PropagationOptions& propagation : {PropagationOptions(), directed})
    for (const int64_t width : {32, 512}) EXPECT_EQ(changing(width, propagation, 0.8), "sparse") << width;
  EXPECT_NE(changing(64, {}, 1), "sparse") << "a series without an end";
  EXPECT_NE(changing(2000, {}, 0.8), "sparse") << "products with a large g cost more than its eigenvectors";
}

TEST(Planner, AutoIsWhatThePlannerSays) {
  const auto S = std::make_shared<Propagation>(make_propagation(chain_graph(4, 200)));
  EXPECT_STREQ(make_solver("auto", S, {}, 100)->name(), "direct");
}

}  // namespace
}  // namespace eignn
