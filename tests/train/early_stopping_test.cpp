#include "train/early_stopping.h"

#include <gtest/gtest.h>

namespace eignn {
namespace {

TEST(EarlyStoppingByLoss, KeepsStrictImprovementsAndCountsTheRest) {
  EarlyStopping stopping(Stopping::loss, 2);
  EXPECT_TRUE(stopping.judge(1.0, 0.5).keep);
  EXPECT_FALSE(stopping.judge(1.0, 0.9).keep);  // accuracy does not count, and equal is not better
  EXPECT_TRUE(stopping.judge(0.9, 0.1).keep);
  EXPECT_FALSE(stopping.judge(0.95, 1.0).stop);
  EXPECT_TRUE(stopping.judge(0.95, 1.0).stop);
}

TEST(EarlyStoppingByEither, ResetsWhenLossOrAccuracyIsAsGoodAsItsBest) {
  EarlyStopping stopping(Stopping::either, 2);
  stopping.judge(1.0, 0.5);
  stopping.judge(2.0, 0.4);
  EXPECT_EQ(stopping.waited, 1);
  stopping.judge(2.0, 0.5);  // accuracy ties
  EXPECT_EQ(stopping.waited, 0);
  stopping.judge(1.0, 0.1);  // loss ties
  EXPECT_EQ(stopping.waited, 0);
  stopping.judge(2.0, 0.1);
  EXPECT_TRUE(stopping.judge(2.0, 0.1).stop);
}

TEST(EarlyStoppingByEither, KeepsWhenBothHoldOrAccuracyImproves) {
  EarlyStopping stopping(Stopping::either, 9);
  EXPECT_TRUE(stopping.judge(1.0, 0.5).keep);
  EXPECT_TRUE(stopping.judge(1.0, 0.5).keep);   // both as good
  EXPECT_FALSE(stopping.judge(0.9, 0.4).keep);  // the loss alone
  EXPECT_TRUE(stopping.judge(5.0, 0.6).keep);   // the accuracy strictly better
  EXPECT_FALSE(stopping.judge(5.0, 0.6).keep);  // its tie without the loss
}

TEST(EarlyStopping, ALossThatIsNotANumberIsNeverKept) {
  EarlyStopping stopping(Stopping::loss, 1);
  const auto verdict = stopping.judge(std::numeric_limits<double>::quiet_NaN(), 0.5);
  EXPECT_FALSE(verdict.keep);
  EXPECT_TRUE(verdict.stop);
}

TEST(EarlyStoppingByScore, KeepsStrictlyHigherScoresWhateverTheLoss) {
  EarlyStopping stopping(Stopping::score, 2);
  EXPECT_TRUE(stopping.judge(1.0, 0.5).keep);
  EXPECT_TRUE(stopping.judge(9.0, 0.6).keep);
  EXPECT_FALSE(stopping.judge(0.1, 0.6).keep);
  EXPECT_TRUE(stopping.judge(0.1, 0.6).stop);
}

}  // namespace
}  // namespace eignn
