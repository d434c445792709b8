#include "models/alike.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "graph/unique_components.h"
#include "support/baselines.h"

namespace eignn {
namespace {

// Pairs 0-3, 1-4 and 2-5.
Propagation three_pairs() {
  return make_propagation(Graph::from_arcs(6, {0, 1, 2}, {3, 4, 5}));
}

TEST(Representatives, AreThoseOfComponentsWithEqualFeatures) {
  auto X = torch::zeros({6, 2}, torch::kFloat32);
  X[0][0] = X[2][0] = 1;  // the second pair is another kind
  const auto alike = representatives(three_pairs(), X);
  EXPECT_EQ(alike.nodes, (std::vector<int64_t>{0, 1, 3, 4}));
  EXPECT_EQ(alike.like, (std::vector<int64_t>{0, 1, 0, 2, 3, 2}));
}

TEST(Representatives, TellTheOrderOfFeatures) {
  auto X = torch::zeros({6, 2}, torch::kFloat32);
  X[0][0] = X[4][0] = X[2][0] = X[5][1] = 1;
  const auto alike = representatives(three_pairs(), X);
  EXPECT_EQ(alike.nodes.size(), 6u);
  EXPECT_EQ(alike.like, (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));
}

TEST(Representatives, APartOfSHasItsOwnRows) {
  const Propagation S = three_pairs(), part = restricted(S, {1, 2, 4, 5});
  EXPECT_EQ(part.nodes, 4);
  EXPECT_EQ(part.column, (std::vector<int32_t>{0, 2, 1, 3, 0, 2, 1, 3}));
  for (int64_t e = 0; e < 2; ++e)
    EXPECT_EQ(part.value(1, part.row_begin[1] + e), S.value(2, S.row_begin[2] + e));
}

// A graph may name its nodes: they are rows of X then, and an index names rows of X.
TEST(Representatives, OfAGraphThatNamesItsNodes) {
  const auto S = std::make_shared<Propagation>(make_propagation(chain_graph(4, 3)));
  const std::vector<int64_t> nodes = {1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23};
  const auto rows = torch::tensor(nodes, torch::kInt64);
  auto X = test::random_matrix(24, 5, 1);
  X.index_fill_(0, rows, 0);
  X[1][2] = X[7][2] = X[13][3] = X[19][3] = 1;
  const auto make = [&](const std::vector<int64_t>& named, const torch::Tensor& features) {
    auto model = make_baseline(GcnOptions{}, {{named, S}}, features, 3, torch::kFloat64, 2);
    model->eval();
    return model;
  };
  const torch::NoGradGuard guard;
  const auto expected = make({}, X.index_select(0, rows))->scores(torch::arange(12));
  EXPECT_LE(test::relative_error(make(nodes, X)->scores(rows), expected), 1e-14);
}

TEST(Representatives, FeaturesThatWantAGradientGetEachTheirOwn) {
  const auto S = std::make_shared<Propagation>(make_propagation(chain_graph(4, 3)));
  const auto X = torch::ones({12, 5}, torch::kFloat64).requires_grad_();
  const auto model = make_baseline(GcnOptions{}, {{{}, S}}, X, 3, torch::kFloat64, 2);
  model->eval();
  model->scores(torch::tensor({11}, torch::kInt64)).sum().backward();
  EXPECT_EQ(X.grad().narrow(0, 0, 9).abs().sum().item<double>(), 0);
  EXPECT_GT(X.grad().narrow(0, 9, 3).abs().sum().item<double>(), 0);
}

}  // namespace
}  // namespace eignn
