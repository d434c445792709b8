#include "models/receptive_field.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/baselines.h"
#include "support/oracle.h"

namespace eignn {
namespace {

std::shared_ptr<const Propagation> path(bool directed) {
  std::vector<int64_t> from, to;
  for (int64_t v = 0; v + 1 < 60; ++v) from.push_back(v), to.push_back(v + 1);
  return std::make_shared<Propagation>(
      make_propagation(Graph::from_arcs(60, from, to), directed ? test::inwards() : PropagationOptions{}));
}

TEST(ReceptiveField, GivesTheRowsTheStatesOfTheWholeGraph) {
  for (const bool directed : {false, true}) {
    const auto S = path(directed);
    const auto rows = torch::tensor({41, 3, 41, 17}, torch::kInt64);
    const auto H = test::random_matrix(60, 4, 1).requires_grad_(), G = test::random_matrix(4, 4, 2);
    ReceptiveField field(S, torch::kFloat64);
    auto part = H, stayed = H, whole = H;
    for (const Round& round : field.rounds_to(rows, 5)) {
      ASSERT_TRUE(round.stay);
      part = propagate(round.S, part);
      stayed = propagate(round.stay, stayed);
      whole = propagate(make_product(*S, torch::kFloat64), whole);
      EXPECT_LT(part.size(0), 60);
      EXPECT_LE(test::relative_error(part.index_select(0, round.rows), whole.index_select(0, rows)), 1e-14);
      EXPECT_TRUE(torch::equal(stayed.index_select(0, round.rows), H.index_select(0, rows)));
    }
    EXPECT_EQ(part.size(0), 3);  // the last has nothing but the rows
    const auto gradient = [&](const torch::Tensor& scores) {
      return torch::autograd::grad({(scores * G).sum()}, {H})[0];
    };
    EXPECT_LE(test::relative_error(gradient(part.index_select(0, field.rounds_to(rows, 5).back().rows)),
                                   gradient(whole.index_select(0, rows))),
              1e-14);
  }
}

TEST(ReceptiveField, HasAllNodesWhereMostAreNeeded) {
  ReceptiveField field(path(false), torch::kFloat64);
  const auto many = torch::arange(0, 60, 2);
  for (const Round& round : field.rounds_to(many, 3)) {
    EXPECT_FALSE(round.stay);
    EXPECT_TRUE(torch::equal(round.rows, many));
  }
  // 30 rounds from the middle see the whole path, the last few do not.
  const auto& far = field.rounds_to(torch::tensor({30}, torch::kInt64), 40);
  EXPECT_FALSE(far.front().stay);
  EXPECT_TRUE(far.back().stay);
}

TEST(ReceptiveField, IsFoundOnceForTheSameRows) {
  ReceptiveField field(path(false), torch::kFloat64);
  auto rows = torch::tensor({30, 7}, torch::kInt64);
  const auto first = field.rounds_to(rows, 3);
  EXPECT_EQ(first[2].S, field.rounds_to(rows.clone(), 3)[2].S);
  EXPECT_NE(first[2].S, field.rounds_to(rows, 4)[2].S);
  rows[0] = 31;
  EXPECT_NE(first[2].S, field.rounds_to(rows, 3)[2].S);
  EXPECT_TRUE(field.rounds_to(rows, 0).empty());
}

}  // namespace
}  // namespace eignn
