#include "eignn/dataset.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "eignn/error.h"

namespace eignn {
namespace {

TEST(Chains, HaveOneInformativeNodeEachWithItsClass) {
  const Dataset set = chains_dataset({7, 4, 3, 10}, 0);
  EXPECT_EQ(set.nodes(), 7 * 4 * 3);
  EXPECT_EQ(set.features.sum().item<double>(), 12);
  for (int64_t chain = 0; chain < 12; ++chain) {
    EXPECT_EQ(set.labels[chain * 7 + 6].item<int64_t>(), chain / 4);
    EXPECT_EQ(set.features[chain * 7][chain / 4].item<double>(), 1);
    EXPECT_EQ(set.distance[chain * 7 + 5], 5);
  }
}

TEST(Chains, ArcsRunAwayFromTheInformativeNode) {
  const Dataset set = chains_dataset({5, 2, 2, 4}, 0);
  EXPECT_EQ(set.graph.arcs(), 4 * 4);
  EXPECT_EQ(set.graph.target[set.graph.row_begin[0]], 1);
  EXPECT_EQ(set.graph.row_begin[5] - set.graph.row_begin[4], 0);  // the last node of a chain has no arc
}

TEST(Chains, SplitIsAPartitionInTheStatedProportions) {
  const Dataset set = chains_dataset({33, 5, 2, 4}, 3);
  const Split& split = set.splits.at(0);
  EXPECT_EQ(split.train.size(0), 330 / 20);
  EXPECT_EQ(split.val.size(0), 33);
  const auto all = std::get<0>(torch::cat({split.train, split.val, split.test}).sort());
  EXPECT_TRUE(all.equal(torch::arange(330)));
}

TEST(Chains, TheSeedFixesTheSplit) {
  const ChainsOptions options{20, 5, 2, 4};
  EXPECT_TRUE(chains_dataset(options, 1).splits[0].train.equal(chains_dataset(options, 1).splits[0].train));
  EXPECT_FALSE(chains_dataset(options, 1).splits[0].train.equal(chains_dataset(options, 2).splits[0].train));
}

TEST(Chains, NoiseIsUniformWithinItsBounds) {
  ChainsOptions options{50, 10, 2, 20};
  const auto clean = chains_dataset(options, 0).features;
  options.noise = 0.1;
  const auto difference = chains_dataset(options, 0).features - clean;
  EXPECT_LE(difference.abs().max().item<double>(), 0.1);
  EXPECT_NEAR(difference.mean().item<double>(), 0, 0.002);
  EXPECT_NEAR(difference.std().item<double>(), 0.1 / std::sqrt(3.0), 0.002);
}

TEST(Chains, RefuseSettingsThatMakeNoSense) {
  EXPECT_THROW(chains_dataset({0, 20, 2, 100}, 0), ArgumentError);
  EXPECT_THROW(chains_dataset({10, 0, 2, 100}, 0), ArgumentError);
  EXPECT_THROW(chains_dataset({10, 20, 1, 100}, 0), ArgumentError);
  EXPECT_THROW(chains_dataset({10, 20, 5, 4}, 0), ArgumentError);
  EXPECT_THROW(chains_dataset({10, 20, 2, 100, -1}, 0), ArgumentError);
  EXPECT_THROW(chains_dataset({10, 20, 2, 100, std::nan("")}, 0), ArgumentError);
}

TEST(Karate, SplitsEachFactionAlike) {
  const Dataset set = karate_dataset(5);
  const Split& split = set.splits.at(0);
  for (const auto& part : {split.train, split.val}) {
    EXPECT_EQ(part.size(0), 8);
    EXPECT_EQ(set.labels.index_select(0, part).sum().item<int64_t>(), 4);
  }
  EXPECT_EQ(split.test.size(0), 34 - 16);
}

TEST(NamedSets, AnUnknownNameIsAnsweredWithTheNearest) {
  try {
    load_dataset("chain", {}, 0);
    FAIL();
  } catch (const ArgumentError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean chains?"), std::string::npos);
  }
}

}  // namespace
}  // namespace eignn
