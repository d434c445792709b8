// PPNP and APPNP: the exact personalised PageRank and the steps towards it.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/baselines.h"

namespace eignn {
namespace {

using test::relative_error;
using test::scores;
using test::SmallProblem;
using test::weight;

test::AnyOptions with_hops(int64_t hops) {
  test::AnyOptions options;
  options.hidden = 5;
  options.hops = hops;
  options.alpha = 0.2;
  return options;
}

torch::Tensor own_scores(const SmallProblem& problem, const Model& model) {
  return torch::relu(problem.X.mm(weight(model, "W0"))).mm(weight(model, "W1"));
}

TEST(Ppnp, IsTheDenseInverse) {
  // Of one component, of several, and of a directed graph.
  for (const SmallProblem& problem :
       {SmallProblem(), SmallProblem(test::random_graph(30, 1.0, 3)), SmallProblem(chain_graph(3, 5)),
        SmallProblem(test::directed_graph(), test::inwards())}) {
    const auto model = problem.model("ppnp", with_hops(1));
    const auto M = torch::eye(problem.nodes(), torch::kFloat64) - 0.8 * problem.received();
    const auto expected = 0.2 * torch::linalg_solve(M, own_scores(problem, *model), true);
    EXPECT_LE(relative_error(scores(*model, problem.nodes()), expected), 1e-12);
  }
}

TEST(Appnp, TendsToPpnpAsTheStepsGrow) {
  for (const SmallProblem& problem :
       {SmallProblem(), SmallProblem(test::directed_graph(), test::inwards())}) {
    const auto limit = scores(*problem.model("ppnp", with_hops(1)), problem.nodes());
    double last = 1e300;
    for (const int64_t hops : {1, 4, 16, 64, 160}) {
      const double error =
          relative_error(scores(*problem.model("appnp", with_hops(hops)), problem.nodes()), limit);
      EXPECT_LT(error, last) << hops;
      last = error;
    }
    EXPECT_LE(last, 1e-13);
  }
}

TEST(Appnp, OneStepMixesTheNeighboursWithTheNodeItself) {
  const SmallProblem problem;
  const auto model = problem.model("appnp", with_hops(1));
  const auto H = own_scores(problem, *model);
  EXPECT_LE(relative_error(scores(*model, 34), 0.8 * problem.received().mm(H) + 0.2 * H), 1e-13);
}

TEST(Appnp, DropsEntriesOfSInTrainingWithoutMovingTheirMean) {
  const SmallProblem problem;
  test::AnyOptions options = with_hops(1);
  options.alpha = 1e-9;  // nothing but the step along the graph
  options.dropout = 0.3;
  const auto model = problem.model("appnp", options);
  const torch::NoGradGuard guard;
  // A network whose own dropout does nothing: all of it is in the bias.
  model->named_parameters()["W1"].zero_();
  model->named_parameters()["b1"].fill_(1);
  const auto expected = scores(*model, 34);
  model->train();
  auto sum = torch::zeros_like(expected), first = sum;
  constexpr int64_t draws = 4000;
  for (int64_t k = 0; k < draws; ++k) {
    model->seed_dropout(static_cast<uint64_t>(k));
    const auto drawn = model->scores(torch::arange(34));
    if (k == 0) first = drawn;
    sum += drawn;
  }
  EXPECT_GT(relative_error(first, expected), 0.05);
  EXPECT_LE(relative_error(sum / draws, expected), 0.02);
}

}  // namespace
}  // namespace eignn
