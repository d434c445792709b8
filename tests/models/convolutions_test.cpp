// MLP, GCN, SGC, JKNet and GCNII against their equations, written densely.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "models/propagate.h"
#include "support/baselines.h"

namespace eignn {
namespace {

using test::relative_error;
using test::scores;
using test::SmallProblem;
using test::weight;

test::AnyOptions with_layers(int64_t layers) {
  test::AnyOptions options;
  options.layers = layers;
  options.hidden = 5;
  return options;
}

TEST(Propagate, IsTheTransposedProductAndItsGradientTheStraightOne) {
  const SmallProblem problem(test::directed_graph(), test::inwards());
  const auto S = make_product(*problem.S, torch::kFloat64);
  const auto H = problem.X.clone().requires_grad_();
  const auto out = propagate(S, H);
  EXPECT_LE(relative_error(out.detach(), problem.received().mm(problem.X)), 1e-14);
  const auto G = test::random_matrix(problem.nodes(), test::features, 2);
  out.backward(G);
  EXPECT_LE(relative_error(H.grad(), test::dense_S(*problem.S).mm(G)), 1e-14);
}

TEST(Mlp, IgnoresTheGraph) {
  const SmallProblem club, empty(Graph::from_arcs(34, {}, {}));
  EXPECT_TRUE(scores(*club.model("mlp"), 34).equal(scores(*empty.model("mlp"), 34)));
  EXPECT_FALSE(scores(*club.model("gcn"), 34).equal(scores(*empty.model("gcn"), 34)));
}

TEST(Mlp, IsTheStatedNetwork) {
  const SmallProblem problem;
  const auto model = problem.model("mlp", with_layers(2));
  const auto hidden = torch::relu(problem.X.mm(weight(*model, "W0")) + weight(*model, "b0"));
  EXPECT_LE(relative_error(scores(*model, 34), hidden.mm(weight(*model, "W1")) + weight(*model, "b1")),
            1e-14);
}

// One layer without a bias: scores = dropout(X) W.
struct DroppedFeatures {
  explicit DroppedFeatures(const torch::Tensor& X) {
    problem.X = X;
    test::AnyOptions options = with_layers(1);
    options.dropout = 0.375;  // of 65536 a whole number
    model = problem.model("mlp", options);
    const torch::NoGradGuard guard;
    model->named_parameters()["W0"].copy_(torch::eye(test::features, test::classes));
    model->train();
  }
  torch::Tensor draw(uint64_t seed) const {
    model->seed_dropout(seed);
    return scores(*model, 34);
  }
  SmallProblem problem;
  std::shared_ptr<Model> model;
};

TEST(Dropout, OfFeaturesThatAreMostlyZeroIsThatOfAllFeatures) {
  auto few = torch::zeros({34, test::features}, torch::kFloat64);
  for (int64_t v = 0; v < 34; v += 2) few[v][v % 3] = 1 + v;  // one in twelve
  for (const auto& X : {few, test::random_matrix(34, test::features, 3)}) {
    const DroppedFeatures dropped(X);
    const auto seen = X.slice(1, 0, test::classes);
    auto sum = torch::zeros_like(seen);
    constexpr int64_t draws = 2000;
    for (int64_t k = 0; k < draws; ++k) {
      const auto f = dropped.draw(static_cast<uint64_t>(k));
      // Each entry is 0 or what it was, times 1/(1 - p).
      EXPECT_TRUE((f == 0).logical_or((f * 0.625 - seen).abs() <= 1e-12).all().item<bool>());
      sum += f;
    }
    EXPECT_LE(relative_error(sum / draws, seen), 0.05);
    EXPECT_TRUE(dropped.draw(5).equal(dropped.draw(5)));
    dropped.model->use_features(X.flip(0));  // zero elsewhere
    const auto f = dropped.draw(5), flipped = seen.flip(0);
    EXPECT_TRUE((f == 0).logical_or((f * 0.625 - flipped).abs() <= 1e-12).all().item<bool>());
    EXPECT_GT(f.ne(0).sum().item<int64_t>(), flipped.ne(0).sum().item<int64_t>() / 3);
  }
}

TEST(Gcn, PropagatesByTheNormalisedMatrixInEveryLayer) {
  for (const SmallProblem& problem :
       {SmallProblem(), SmallProblem(test::directed_graph(), test::inwards())}) {
    const auto model = problem.model("gcn", with_layers(3));
    auto H = problem.X;
    for (const char* l : {"0", "1", "2"}) {
      H = problem.received().mm(H.mm(weight(*model, std::string("W") + l))) +
          weight(*model, std::string("b") + l);
      if (l[0] != '2') H = torch::relu(H);
    }
    EXPECT_LE(relative_error(scores(*model, problem.nodes()), H), 1e-13);
  }
}

// Its paper's point: without activations the weights merge.
TEST(Sgc, IsGcnWithoutActivationsWithMergedWeights) {
  SmallProblem problem;
  problem.X = problem.X.abs();  // so that ReLU does nothing to states of positive weights
  test::AnyOptions options = with_layers(3);
  options.hops = 3;
  const auto gcn = problem.model("gcn", options), sgc = problem.model("sgc", options);
  const torch::NoGradGuard guard;
  for (const char* W : {"W0", "W1"}) gcn->named_parameters()[W].abs_();
  sgc->named_parameters()["W"].copy_(weight(*gcn, "W0").mm(weight(*gcn, "W1")).mm(weight(*gcn, "W2")));
  EXPECT_LE(relative_error(scores(*sgc, 34), scores(*gcn, 34)), 1e-12);
}

TEST(JkNet, TheLastLayerSeesTheStatesOfAllLayers) {
  const SmallProblem problem;
  const auto model = problem.model("jknet", with_layers(3));
  std::vector<torch::Tensor> all;
  auto H = problem.X;
  for (const char* l : {"0", "1", "2"}) {
    H = torch::relu(problem.received().mm(H).mm(weight(*model, std::string("W") + l)));
    all.push_back(H);
  }
  ASSERT_EQ(weight(*model, "W_out").size(0), 3 * 5);
  EXPECT_LE(relative_error(scores(*model, 34), torch::cat(all, 1).mm(weight(*model, "W_out"))), 1e-13);
}

TEST(Gcnii, AtAlphaOneIgnoresTheGraphAndBelowDoesNot) {
  const SmallProblem club, empty(Graph::from_arcs(34, {}, {}));
  test::AnyOptions options = with_layers(4);
  options.alpha = 1;
  EXPECT_TRUE(scores(*club.model("gcnii", options), 34).equal(scores(*empty.model("gcnii", options), 34)));
  options.alpha = 0.9;
  EXPECT_GT(
      relative_error(scores(*club.model("gcnii", options), 34), scores(*empty.model("gcnii", options), 34)),
      1e-3);
}

TEST(Gcnii, IsTheStatedRecurrence) {
  const SmallProblem problem;
  test::AnyOptions options = with_layers(2);
  options.alpha = 0.3;
  options.theta = 0.7;
  const auto model = problem.model("gcnii", options);
  const auto H0 = torch::relu(problem.X.mm(weight(*model, "W_in")));
  auto H = H0;
  for (int64_t l = 1; l <= 2; ++l) {
    const double beta = std::log(0.7 / static_cast<double>(l) + 1);
    const auto mixed =
        (1 - beta) * torch::eye(5, torch::kFloat64) + beta * weight(*model, "W" + std::to_string(l - 1));
    H = torch::relu((0.7 * problem.received().mm(H) + 0.3 * H0).mm(mixed));
  }
  EXPECT_LE(relative_error(scores(*model, 34), H.mm(weight(*model, "W_out"))), 1e-13);
}

}  // namespace
}  // namespace eignn
