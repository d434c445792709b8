#include "report/look_up.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace eignn {
namespace {

torch::Tensor ids(const std::vector<int64_t>& values) {
  return torch::tensor(values, torch::kInt64);
}

Dataset nodes(const std::vector<double>& features, const std::vector<int64_t>& labels, int64_t classes) {
  Dataset set;
  set.graph.nodes = static_cast<int64_t>(features.size());
  set.features = torch::tensor(features, torch::kFloat64).unsqueeze(1);
  set.labels = ids(labels);
  set.classes = classes;
  return set;
}

TEST(LookUp, AnswersTheMajorityOfTheTrainingNodesWithTheSameFeatures) {
  // Training: feature 1 has the labels 0 0 1, feature 2 has 1. Test: feature 1 with 0 and 1, feature 2
  // with 1.
  const Dataset set = nodes({1, 1, 1, 2, 1, 1, 2}, {0, 0, 1, 1, 0, 1, 1}, 2);
  const LookUp found = look_up_score_of(set, {ids({0, 1, 2, 3}), {}, ids({4, 5, 6})});
  EXPECT_DOUBLE_EQ(found.score, 2.0 / 3);
  EXPECT_DOUBLE_EQ(found.constant, 1.0 / 3) << "two of each class: the smaller one, right once";
}

TEST(LookUp, OfFeaturesThatSayNothingIsTheMostFrequentClass) {
  // All features are equal: every label occurs among training nodes, and a look-up knows no better than 2
  // of 5.
  const Dataset set = nodes(std::vector<double>(10, 0.0), {0, 1, 1, 1, 2, 0, 0, 1, 1, 2}, 3);
  const LookUp found = look_up_score_of(set, {ids({0, 1, 2, 3, 4}), {}, ids({5, 6, 7, 8, 9})});
  EXPECT_DOUBLE_EQ(found.score, 2.0 / 5);
  EXPECT_DOUBLE_EQ(found.constant, 2.0 / 5);
}

TEST(LookUp, FallsBackOnTheMostFrequentClassForUnseenFeatures) {
  const Dataset set = nodes({1, 2, 3, 9, 9}, {0, 1, 1, 1, 0}, 2);
  const LookUp found = look_up_score_of(set, {ids({0, 1, 2}), {}, ids({3, 4})});
  EXPECT_DOUBLE_EQ(found.score, 0.5);
  EXPECT_DOUBLE_EQ(found.constant, 0.5);
}

TEST(LookUp, AnEqualVoteGoesToTheLabelThatIsMoreFrequentOverall) {
  const Dataset set = nodes({1, 1, 2, 1, 1}, {0, 1, 1, 1, 0}, 2);
  EXPECT_DOUBLE_EQ(look_up_score_of(set, {ids({0, 1, 2}), {}, ids({3})}).score, 1);
  EXPECT_DOUBLE_EQ(look_up_score_of(set, {ids({0, 1, 2}), {}, ids({4})}).score, 0);
}

TEST(LookUp, OfLabelSetsGoesByClassAndScoresMicroF1) {
  Dataset set = nodes({1, 1, 1, 2, 1, 2}, {}, 3);
  set.labels = torch::tensor({1, 0, 0,  //
                              1, 1, 0,  //
                              0, 1, 0,  //
                              0, 0, 1,  //
                              1, 1, 1,  //
                              0, 0, 1},
                             torch::kUInt8)
                   .view({6, 3});
  // Feature 1: two of three have classes 0 and 1. Node 4 (1 1 1) is answered 1 1 0, node 5 (0 0 1) wholly
  // right: three true positives, one class missed, none too many: 2·3 / (2·3 + 1).
  const LookUp found = look_up_score_of(set, {ids({0, 1, 2, 3}), {}, ids({4, 5})});
  EXPECT_DOUBLE_EQ(found.score, 6.0 / 7);
  EXPECT_DOUBLE_EQ(found.constant, 0) << "no class is in more than half of the training nodes";
}

}  // namespace
}  // namespace eignn
