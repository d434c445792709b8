#include "paper/side_by_side.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "run/recipes.h"
#include "support/message_of.h"
#include "train/assemble.h"

namespace eignn {
namespace {

TrainConfig short_chains(const char* solver) {
  TrainConfig config;
  config.chain_length = 8;
  config.chains_per_class = 3;
  config.feature_dim = 6;
  apply_recipe(config, {});
  config.eignn().solver = solver;
  return config;
}

TEST(SideBySide, MeasuresBothSides) {
  const TrainConfig ours = short_chains("direct"), published = short_chains("published");
  const Dataset dataset = load_dataset(ours);
  const SideBySide sides = measure_side_by_side(ours, published, dataset, {/*blocks=*/2, /*score_epochs=*/5});
  EXPECT_EQ(sides.blocks, 2);
  EXPECT_EQ(sides.ours.solver, "direct");
  EXPECT_EQ(sides.published.solver, "published");
  for (const TrainingCost* cost : {&sides.ours, &sides.published}) {
    EXPECT_GT(cost->step_ms, 0);
    EXPECT_GT(cost->epoch_ms, 0);
    EXPECT_GT(cost->preprocess_s, 0);
    EXPECT_GE(cost->score_epochs, 5);
    EXPECT_GE(cost->test_score, 0);
    EXPECT_LE(cost->test_score, 1);
  }
}

TEST(SideBySide, LossesOfAllSolversAgreeOnShortChains) {
  const TrainConfig published = short_chains("published");
  const Dataset dataset = load_dataset(published);
  for (const char* solver : {"direct", "spectral", "krylov"}) {
    TrainConfig ours = short_chains(solver);
    ours.dtype = Precision::float32;  // compared in float64 all the same
    const LossComparison losses = compare_losses(ours, published, dataset, 3);
    EXPECT_EQ(losses.ours.size(), 4u);  // three steps and the validation nodes
    EXPECT_EQ(losses.published.size(), 4u);
    EXPECT_TRUE(losses.agree()) << solver << ": " << losses.largest_difference();
    EXPECT_NE(losses.ours[0], losses.ours[1]);
  }
}

TEST(SideBySide, AnotherEquationIsSeen) {
  const TrainConfig published = short_chains("published");
  TrainConfig ours = short_chains("direct");
  ours.eignn().gamma = 0.79;
  const LossComparison losses = compare_losses(ours, published, load_dataset(ours), 1);
  EXPECT_FALSE(losses.agree());
  EXPECT_GT(losses.largest_difference(), 1e-6);
}

TEST(SideBySide, AnotherGradientIsSeenAfterOneEpoch) {
  const TrainConfig published = short_chains("published");
  TrainConfig ours = short_chains("direct");
  ours.eignn().lr_propagation = 0;  // F stands still: the first loss is the same, the one after it is not
  const LossComparison losses = compare_losses(ours, published, load_dataset(ours), 1);
  EXPECT_LT(losses.differences()[0], 1e-6);
  EXPECT_FALSE(losses.agree());
}

TEST(SideBySide, ALossThatIsNoNumberAgreesWithNothing) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const LossComparison losses{{1, none, 1}, {1, 1, 1}};
  EXPECT_TRUE(std::isnan(losses.largest_difference()));
  EXPECT_FALSE(losses.agree());
}

TEST(SideBySide, PublishedTakesNoDirectedGraph) {
  TrainConfig ours = short_chains("direct");
  ours.propagation.direction = Direction::in;
  TrainConfig published = ours;
  published.eignn().solver = "published";
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { compare_losses(ours, published, load_dataset(ours), 1); }),
                  "published");
}

}  // namespace
}  // namespace eignn
