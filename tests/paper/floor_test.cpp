// The count by hand.
#include "paper/floor.h"
#include "train/assemble.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace eignn {
namespace {

EpochShape small_shape() {
  EpochShape shape;
  shape.features = 3;
  shape.classes = 2;
  shape.components = {{/*nodes=*/5, /*entries=*/13, /*train=*/2, /*val=*/1}};
  return shape;
}

void expect_work(const Work& part, const char* what, double flops, double bytes) {
  EXPECT_EQ(part.what, what);
  EXPECT_EQ(part.flops, flops) << what;
  EXPECT_EQ(part.bytes, bytes) << what;
}

TEST(Floor, CountsAStepInTheEigenbasis) {
  const auto parts = step_work(small_shape());
  ASSERT_EQ(parts.size(), 9u);
  expect_work(parts[0], "FᵀF, one triangle", 27, 4 * 18);
  expect_work(parts[1], "Ẑ, one product with g", 90, 4 * 39);
  expect_work(parts[2], "Z at the training nodes", 60, 4 * 31);
  expect_work(parts[3], "B: scores, ∇B, ∇Z", 72, 4 * 12);
  expect_work(parts[4], "∇Z back", 60, 4 * 31);
  expect_work(parts[5], "Ŵ, one product with g", 90, 4 * 39);
  expect_work(parts[6], "R = ŴᵀΛẐ", 90, 4 * 39);
  expect_work(parts[7], "∇F = F (R + Rᵀ - c FᵀF)", 54, 4 * 36);
  expect_work(parts[8], "Adam", 0, 4 * 105);
  expect_work(total(parts), "all", 543, 1400);
}

TEST(Floor, CountsAThinFByItsRowsAndTheEntriesOfX) {
  EpochShape shape = small_shape();
  shape.rank = 2;
  shape.components[0].feature_entries = 10;
  const auto parts = step_work(shape);
  ASSERT_EQ(parts.size(), 13u);
  expect_work(parts[0], "FFᵀ, one triangle", 12, 4 * 6);
  expect_work(parts[1], "X Fᵀ", 40, 4 * (10 + 6 + 10));
  expect_work(parts[2], "F X S", 52, 4 * (13 + 20));
  expect_work(parts[3], "Ỹ, one product with FFᵀ", 40, 4 * 20);
  expect_work(parts[4], "Ỹ at the training nodes", 40, 4 * (10 + 14));
  expect_work(parts[5], "B: scores and ∇B", 4 * (4 + 4 + 6) * 2, 4 * (4 + 4 + 24));
  expect_work(parts[11], "∇F, two products with F", 48, 4 * 24);
  expect_work(parts[12], "Adam", 0, 4 * 84);
  const auto evaluation = evaluation_work(shape);
  ASSERT_EQ(evaluation.size(), 2u);
  expect_work(evaluation[0], "Ỹ at the validation nodes", 20, 4 * (5 + 12));
}

TEST(Floor, CountsScoresAloneFromTheRowsOfB) {
  EpochShape shape = small_shape();
  shape.scores_alone = true;
  const auto parts = step_work(shape);
  ASSERT_EQ(parts.size(), 8u);
  expect_work(parts[0], "FᵀF, one triangle", 27, 4 * 18);
  expect_work(parts[1], "B T_p, one product with g", 36, 4 * 9);
  expect_work(parts[2], "scores from X̂", 2 * (15 + 10) * 2, 4 * 25);
  expect_work(parts[3], "their gradient back", 100, 4 * 25);
  expect_work(parts[4], "B T_p backwards, one product with g", 36, 4 * 9);
  expect_work(parts[5], "∂L/∂g", 36, 4 * 9);
  expect_work(parts[6], "∇F = F (ḡ + ḡᵀ - c FᵀF)", 54, 4 * 36);
  expect_work(parts[7], "Adam", 0, 4 * 105);
  const auto evaluation = evaluation_work(shape);
  ASSERT_EQ(evaluation.size(), 1u);
  expect_work(evaluation[0], "scores at the validation nodes", 20, 4 * 5);
}

TEST(Floor, KnowsWhereScoresAreAllThatIsRead) {
  TrainConfig config;
  config.dataset = "karate";
  const Dataset dataset = load_dataset(config);
  EXPECT_TRUE(epoch_shape(config, dataset, "krylov").scores_alone);
  EXPECT_FALSE(epoch_shape(config, dataset, "spectral").scores_alone);
  config.eignn().gamma = 1;
  EXPECT_FALSE(epoch_shape(config, dataset, "krylov").scores_alone);
  config.eignn().gamma = 0.8;
  config.eignn().head = Head::batch_norm;
  EXPECT_FALSE(epoch_shape(config, dataset, "krylov").scores_alone);
}

TEST(Floor, CountsAnEliminationByTheEntriesOfS) {
  EpochShape shape = small_shape();
  shape.eigenbasis = false;
  shape.bytes_per_number = 8;
  const auto parts = step_work(shape);
  expect_work(parts[2], "Z at the training nodes", 2 * 13 * 3, 8 * (13 + 10) * 3);
  expect_work(parts[4], "∇Z back", 2 * 13 * 3, 8 * (13 + 10) * 3);
}

TEST(Floor, AnEvaluationSolvesOnlyWhatTheStepDidNot) {
  EpochShape shape = small_shape();
  expect_work(evaluation_work(shape)[0], "Ẑ where no training node is", 0, 0);
  expect_work(evaluation_work(shape)[1], "Z at the validation nodes", 30, 4 * (5 + 18));
  expect_work(evaluation_work(shape)[2], "B: scores", 12, 4 * 3);
  shape.components.push_back({/*nodes=*/4, /*entries=*/4, /*train=*/0, /*val=*/4});
  expect_work(evaluation_work(shape)[0], "Ẑ where no training node is", 72, 4 * 33);
  EXPECT_EQ(total(step_work(shape)).flops, 543);
  shape.reads_all = true;  // batch norm: the step has solved it
  expect_work(evaluation_work(shape)[0], "Ẑ where no training node is", 0, 0);
  EXPECT_EQ(total(step_work(shape)).flops, 543 + 3 * 72);
}

TEST(Floor, SquareWorkIsDoneInEveryStepOfTheOptimiser) {
  EpochShape shape = small_shape();
  shape.optimiser_steps = 10;
  const auto parts = step_work(shape);
  EXPECT_EQ(parts[0].flops, 270);
  EXPECT_EQ(parts[1].flops, 90);
  EXPECT_EQ(parts[7].flops, 540);
  EXPECT_EQ(parts[8].bytes, 4200);
}

TEST(Floor, EqualChainsCountOnce) {
  TrainConfig config;
  config.chain_length = 4;
  config.chains_per_class = 30;
  config.feature_dim = 5;
  const Dataset dataset = load_dataset(config);
  const EpochShape shape = epoch_shape(config, dataset, "direct");
  EXPECT_EQ(shape.features, 5);
  EXPECT_EQ(shape.classes, 2);
  EXPECT_FALSE(shape.eigenbasis);
  EXPECT_FALSE(epoch_shape(config, dataset, "sparse").eigenbasis);
  // In node space nothing is left for the evaluation but B, and the first product skips the zeros of X.
  const EpochShape at_nodes = epoch_shape(config, dataset, "deflated");
  EXPECT_LT(total(evaluation_work(at_nodes)).flops, total(evaluation_work(shape)).flops);
  EXPECT_LT(total(step_work(at_nodes)).flops, total(step_work(shape)).flops);
  EXPECT_TRUE(epoch_shape(config, dataset, "spectral").eigenbasis);
  ASSERT_EQ(shape.components.size(), 2u);  // one of each class
  int64_t train = 0, val = 0;
  for (const ComponentShape& c : shape.components) {
    EXPECT_EQ(c.nodes, 4);
    EXPECT_EQ(c.entries, 10);
    EXPECT_EQ(c.feature_entries, 1);  // the class, at the first node
    train += c.train;
    val += c.val;
  }
  EXPECT_EQ(train, 12);
  EXPECT_EQ(val, 24);
  config.noise = 0.1;
  EXPECT_EQ(epoch_shape(config, load_dataset(config), "direct").components.size(), 60u);
}

TEST(Floor, EachPartTakesTheLongerOfArithmeticAndTraffic) {
  const MachineRates rates{/*flops_per_s=*/10, /*bytes_per_s=*/2};
  EXPECT_DOUBLE_EQ(floor_seconds({{"a", 10, 1}, {"b", 0, 4}}, rates), 3);
}

TEST(Floor, RatesAreMeasured) {
  const MachineRates rates = measure_rates(torch::kFloat32, torch::kCPU, 32, 1e5);
  EXPECT_GT(rates.flops_per_s, 0);
  EXPECT_GT(rates.bytes_per_s, 0);
}

}  // namespace
}  // namespace eignn
