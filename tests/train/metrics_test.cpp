#include "train/metrics.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace eignn {
namespace {

TEST(MicroF1, CountsOverAllEntries) {
  const auto labels = torch::tensor({1, 0, 1, 1, 0, 0}, torch::kUInt8).view({2, 3});
  const auto scores = torch::tensor({2.0, 0.5, -1.0, 0.1, -3.0, -0.2}).view({2, 3});
  EXPECT_DOUBLE_EQ(micro_f1(scores, labels), 2.0 * 2 / (2 * 2 + 1 + 1));  // TP 2, FP 1, FN 1
  EXPECT_DOUBLE_EQ(score_of(scores, labels), micro_f1(scores, labels));
}

TEST(MicroF1, IsOneWhereNothingIsThereAndNothingFound) {
  EXPECT_EQ(micro_f1(-torch::ones({2, 2}), torch::zeros({2, 2}, torch::kUInt8)), 1);
  EXPECT_EQ(micro_f1(-torch::ones({2, 2}), torch::ones({2, 2}, torch::kUInt8)), 0);
}

TEST(Loss, OfSetsOfLabelsIsTheMeanBinaryCrossEntropy) {
  const auto labels = torch::tensor({1, 0}, torch::kUInt8).view({1, 2});
  const auto scores = torch::tensor({0.0, 2.0}, torch::kFloat64).view({1, 2});
  EXPECT_NEAR(loss_of(scores, labels).item<double>(), (std::log(2.0) + std::log1p(std::exp(2.0))) / 2, 1e-12);
}

TEST(Loss, OfOneLabelIsTheNegativeLogLikelihood) {
  const auto scores = torch::tensor({0.0, 1.0, 0.0}, torch::kFloat64).view({1, 3});
  EXPECT_NEAR(loss_of(scores, torch::tensor({1}, torch::kInt64)).item<double>(),
              std::log(2 + std::exp(1.0)) - 1, 1e-12);
}

TEST(Metric, FollowsFromTheLabels) {
  EXPECT_STREQ(metric_name(torch::zeros({3}, torch::kInt64)), "accuracy");
  EXPECT_STREQ(metric_name(torch::zeros({3, 2}, torch::kUInt8)), "micro_f1");
}

}  // namespace
}  // namespace eignn
