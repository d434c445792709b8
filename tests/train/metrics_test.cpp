#include "train/metrics.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "eignn/error.h"
#include "train/calibration.h"
#include "train/ranking.h"

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

TEST(Loss, OfNumbersIsTheMeanSquaredError) {
  const auto labels = torch::tensor({1.0, 2.0, 3.0}, torch::kFloat64).view({3, 1});
  const auto scores = torch::tensor({1.0, 4.0, 0.0}, torch::kFloat64).view({3, 1});
  EXPECT_NEAR(loss_of(scores, labels).item<double>(), (0 + 4 + 9) / 3.0, 1e-12);
}

// The mean over classes of each class's own mean loss.
TEST(Loss, WithBalancedWeightsCountsEachClassTheSame) {
  const auto generator = at::detail::createCPUGenerator(3);
  const auto scores = torch::randn({12, 3}, generator, torch::kFloat64);
  const auto labels = torch::tensor({0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2}, torch::kInt64);
  double expected = 0;
  for (int64_t c = 0; c < 3; ++c) {
    const auto members = (labels == c).nonzero().squeeze(1);
    expected += loss_of(scores.index_select(0, members), labels.index_select(0, members)).item<double>() / 3;
  }
  const auto weights = balanced_weights(labels, 3);
  EXPECT_NEAR(loss_of(scores, labels, weights).item<double>(), expected, 1e-12);
  EXPECT_NEAR(weights.index_select(0, labels).mean().item<double>(), 1, 1e-12);
}

TEST(Loss, BalancedWeightsPassOverAClassWithoutNodes) {
  const auto weights = balanced_weights(torch::tensor({0, 0, 2}, torch::kInt64), 3);
  EXPECT_EQ(weights[1].item<double>(), 0);
  EXPECT_NEAR(weights[0].item<double>(), 0.75, 1e-15);
  EXPECT_NEAR(weights[2].item<double>(), 1.5, 1e-15);
  EXPECT_THROW(balanced_weights(torch::zeros({3, 1}, torch::kFloat64), 1), ArgumentError);
}

TEST(Metric, FollowsFromTheLabels) {
  EXPECT_STREQ(metric_name(torch::zeros({3}, torch::kInt64)), "accuracy");
  EXPECT_STREQ(metric_name(torch::zeros({3, 2}, torch::kUInt8)), "micro_f1");
  EXPECT_STREQ(metric_name(torch::zeros({3, 2}, torch::kFloat64)), "r2");
}

// The share of (with, without) pairs in the right order, equal scores counting half, counted one by one.
double auc_by_pairs(const torch::Tensor& scores, const torch::Tensor& truth) {
  double right = 0, pairs = 0;
  for (int64_t i = 0; i < scores.numel(); ++i)
    for (int64_t j = 0; j < scores.numel(); ++j) {
      if (truth[i].item<int64_t>() == 0 || truth[j].item<int64_t>() != 0) continue;
      const double a = scores[i].item<double>(), b = scores[j].item<double>();
      right += a > b ? 1 : a == b ? 0.5 : 0;
      ++pairs;
    }
  return right / pairs;
}

TEST(RocAuc, IsTheShareOfPairsInTheRightOrder) {
  for (const uint64_t seed : {1, 2, 3, 4}) {
    const auto generator = at::detail::createCPUGenerator(seed);
    const auto truth = torch::rand({60}, generator, torch::kFloat64).lt(0.2).to(torch::kInt64);
    auto scores = torch::randn({60}, generator, torch::kFloat64) + truth;
    if (seed % 2 == 0) scores = scores.round();  // with many ties
    EXPECT_NEAR(roc_auc(scores, truth).value(), auc_by_pairs(scores, truth), 1e-12) << seed;
  }
}

TEST(RocAuc, KnowsItsLimits) {
  const auto scores = torch::tensor({0.1, 0.4, 0.3}), yes = torch::tensor({0, 1, 1}, torch::kInt64);
  EXPECT_EQ(roc_auc(scores, yes).value(), 1);
  EXPECT_EQ(roc_auc(-scores, yes).value(), 0);
  EXPECT_EQ(roc_auc(torch::zeros({3}), yes).value(), 0.5);
  EXPECT_FALSE(roc_auc(scores, torch::ones({3}, torch::kInt64)));
  EXPECT_FALSE(roc_auc(scores, torch::zeros({3}, torch::kInt64)));
  EXPECT_FALSE(roc_auc(torch::full({3}, std::nan("")), yes));
}

// The definition: at each threshold that is a score, precision and recall counted anew.
TEST(AveragePrecision, SumsPrecisionOverTheStepsOfRecall) {
  const auto generator = at::detail::createCPUGenerator(9);
  const auto truth = torch::rand({50}, generator, torch::kFloat64).lt(0.3).to(torch::kInt64);
  const auto scores = (torch::randn({50}, generator, torch::kFloat64) + truth).mul(2).round();
  double expected = 0, recall_before = 0;
  for (int64_t threshold = 20; threshold >= -20; --threshold) {
    const auto above = scores >= static_cast<double>(threshold);
    const double count = above.sum().item<double>();
    if (count == 0) continue;
    const double hits = above.logical_and(truth > 0).sum().item<double>();
    const double recall = hits / truth.sum().item<double>();
    expected += (recall - recall_before) * hits / count;
    recall_before = recall;
  }
  EXPECT_NEAR(average_precision(scores, truth).value(), expected, 1e-12);
  EXPECT_FALSE(average_precision(scores, torch::zeros_like(truth)));
}

TEST(PartScores, OfClassesFollowFromTheConfusionMatrix) {
  // truth 0: 3 right, 1 as 1; truth 1: 2 right, 2 as 0; truth 2 does not occur, and is predicted once.
  const auto labels = torch::tensor({0, 0, 0, 0, 1, 1, 1, 1}, torch::kInt64);
  const auto predicted = torch::tensor({0, 0, 0, 1, 1, 1, 0, 2}, torch::kInt64);
  const PartScores scores = part_scores(torch::one_hot(predicted, 3).to(torch::kFloat64), labels);
  EXPECT_EQ(scores.nodes, 8);
  EXPECT_EQ(scores.confusion, (std::vector<std::vector<int64_t>>{{3, 1, 0}, {1, 2, 1}, {0, 0, 0}}));
  EXPECT_NEAR(*scores.accuracy, 5 / 8.0, 1e-15);
  EXPECT_NEAR(*scores.balanced_accuracy, (3 / 4.0 + 2 / 4.0) / 2, 1e-15);
  EXPECT_NEAR(*scores.macro_f1, (2 * 3 / 8.0 + 2 * 2 / 7.0 + 0) / 3, 1e-15);
  EXPECT_TRUE(scores.roc_auc);
  EXPECT_FALSE(scores.mse);
}

TEST(PartScores, OfTwoClassesRankByTheDifferenceOfTheScores) {
  const auto generator = at::detail::createCPUGenerator(5);
  const auto scores = torch::randn({40, 2}, generator, torch::kFloat64);
  const auto labels = torch::rand({40}, generator, torch::kFloat64).lt(0.3).to(torch::kInt64);
  const auto difference = scores.select(1, 1) - scores.select(1, 0);
  const PartScores of = part_scores(scores, labels);
  EXPECT_NEAR(*of.roc_auc, auc_by_pairs(difference, labels), 1e-12);
  EXPECT_EQ(metric_of(Metric::roc_auc, scores, labels), *of.roc_auc);
}

TEST(PartScores, OfOneClassAloneHaveNoArea) {
  const PartScores scores = part_scores(torch::randn({5, 2}), torch::zeros({5}, torch::kInt64));
  EXPECT_FALSE(scores.roc_auc);
  EXPECT_TRUE(scores.accuracy);
  EXPECT_TRUE(std::isnan(metric_of(Metric::roc_auc, torch::randn({5, 2}), torch::zeros({5}, torch::kInt64))));
}

TEST(PartScores, OfNumbersAreInTheirUnits) {
  const auto labels = torch::tensor({1.0, 10.0, 3.0, 30.0}, torch::kFloat64).view({2, 2});
  const auto scores = torch::tensor({2.0, 10.0, 3.0, 24.0}, torch::kFloat64).view({2, 2});
  const PartScores of = part_scores(scores, labels);
  EXPECT_NEAR(*of.mse, (1 + 36) / 4.0, 1e-12);
  EXPECT_NEAR(*of.mae, 7 / 4.0, 1e-12);
  EXPECT_NEAR(*of.r2, ((1 - 1 / 2.0) + (1 - 36 / 200.0)) / 2, 1e-12);
  EXPECT_FALSE(of.accuracy);
  EXPECT_FALSE(part_scores(scores.narrow(0, 0, 1), labels.narrow(0, 0, 1)).r2);
}

TEST(ConstantScores, AreTheMajorityAndTheMean) {
  const auto labels = torch::tensor({0, 1, 1, 1}, torch::kInt64),
             test = torch::tensor({0, 1, 1}, torch::kInt64);
  const PartScores majority = part_scores(constant_scores(labels, 3, 3), test);
  EXPECT_NEAR(*majority.accuracy, 2 / 3.0, 1e-15);
  EXPECT_EQ(*majority.roc_auc, 0.5);
  const auto numbers = torch::tensor({1.0, 3.0}, torch::kFloat64).view({2, 1});
  EXPECT_NEAR(*part_scores(constant_scores(numbers, 1, 2), numbers).mse, 1, 1e-15);
  EXPECT_NEAR(*part_scores(constant_scores(numbers, 1, 2), numbers).r2, 0, 1e-15);
}

TEST(TargetScale, UndoesItselfAndSurvivesItsJson) {
  const auto labels = torch::tensor({1.0, 7.0, 2.0, 7.0, 6.0, 7.0}, torch::kFloat64).view({3, 2});
  const TargetScale scale = TargetScale::fit(labels, torch::tensor({0, 1}, torch::kInt64));
  EXPECT_EQ(scale.mean, (std::vector<double>{1.5, 7}));
  EXPECT_EQ(scale.scale, (std::vector<double>{0.5, 1}));  // the second is constant
  EXPECT_TRUE(torch::allclose(scale.raw(scale.standardised(labels)), labels, 1e-15));
  const TargetScale again = TargetScale::from_json(scale.to_json(), "a file");
  EXPECT_EQ(again.mean, scale.mean);
  EXPECT_EQ(again.scale, scale.scale);
  for (const char* text : {"", "{}", R"({"mean": [1], "scale": []})", R"({"mean": [1], "scale": [0]})"})
    EXPECT_THROW(TargetScale::from_json(text, "a file"), DataError) << text;
}

// The temperature that generated the labels, from many of them.
TEST(Calibration, FindsTheTemperatureThatTheScoresLack) {
  const auto generator = at::detail::createCPUGenerator(11);
  const auto honest = torch::randn({20000, 4}, generator, torch::kFloat64) * 2;
  const auto labels = torch::multinomial(honest.softmax(1), 1, false, generator).squeeze(1);
  const auto boastful = honest * 3;
  EXPECT_NEAR(fitted_temperature(boastful, labels), 3, 0.1);
  EXPECT_GT(calibration_error(boastful, labels), 0.1);
  EXPECT_LT(calibration_error(boastful / fitted_temperature(boastful, labels), labels), 0.02);
}

TEST(Calibration, TheErrorIsTheGapOfEachBin) {
  // Two nodes at 0.9, one right; two at 0.6, both right: (|0.5 - 0.9| · 2 + |1 - 0.6| · 2) / 4.
  const auto p = torch::tensor({0.9, 0.1, 0.9, 0.1, 0.6, 0.4, 0.6, 0.4}, torch::kFloat64).view({4, 2});
  EXPECT_NEAR(calibration_error(p.log(), torch::tensor({0, 1, 0, 0}, torch::kInt64), 10), 0.4, 1e-12);
}

TEST(Conformal, TheThresholdIsTheRankThatThePromiseAsksFor) {
  const auto of_nodes = torch::arange(1, 20).to(torch::kFloat64);  // 1 … 19
  EXPECT_EQ(conformal_threshold(of_nodes, 0.1), 18);               // ⌈20 · 0.9⌉
  EXPECT_EQ(conformal_threshold(of_nodes, 0.05), 19);
  EXPECT_TRUE(std::isinf(conformal_threshold(of_nodes, 0.04)));  // ⌈20 · 0.96⌉ = 20 > 19
}

// The mean coverage over many draws of calibration and test nodes lies at 1 - alpha, and not far above.
TEST(Conformal, CoversExchangeableNodesAsOftenAsPromised) {
  const auto generator = at::detail::createCPUGenerator(13);
  const double alpha = 0.2;
  double covered = 0;
  constexpr int draws = 200;
  for (int draw = 0; draw < draws; ++draw) {
    const auto scores = torch::randn({148, 3}, generator, torch::kFloat64);
    const auto labels = torch::multinomial((2 * scores).softmax(1), 1, false, generator).squeeze(1);
    covered += conformal_result(alpha, scores.narrow(0, 0, 49), labels.narrow(0, 0, 49),
                                scores.narrow(0, 49, 99), labels.narrow(0, 49, 99), {})
                   .test_coverage /
               draws;
  }
  EXPECT_GT(covered, 1 - alpha - 0.01);
  EXPECT_LT(covered, 1 - alpha + 0.03);
}

TEST(Conformal, TheHalvesShareNoNode) {
  const auto validation = torch::arange(5, 16);
  const auto halves = conformal_halves(validation, 3);
  EXPECT_EQ(halves.judged.numel(), 6);
  EXPECT_EQ(halves.calibration.numel(), 5);
  EXPECT_TRUE(std::get<0>(torch::cat({halves.judged, halves.calibration}).sort()).equal(validation));
  EXPECT_TRUE(conformal_halves(validation, 3).judged.equal(halves.judged));
  EXPECT_THROW(conformal_halves(torch::arange(1), 3), ArgumentError);
}

}  // namespace
}  // namespace eignn
