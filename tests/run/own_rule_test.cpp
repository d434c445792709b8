#include "run/own_rule.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "data/toml.h"
#include "run/recipes.h"
#include "train/config_toml.h"

namespace eignn {
namespace {

// Two classes on a cycle of blocks of `run` nodes: long runs are homophilous, runs of one alternate.
Dataset blocks(int64_t nodes, int64_t run, bool partly_both_ways = false) {
  std::vector<int64_t> from, to;
  for (int64_t v = 0; v < nodes; ++v) {
    from.push_back(v);
    to.push_back((v + 1) % nodes);
    if (partly_both_ways && v % 3 == 0) {
      from.push_back((v + 1) % nodes);
      to.push_back(v);
    }
  }
  const auto labels = torch::arange(nodes).div(run, "floor").remainder(2);
  return make_dataset(Graph::from_arcs(nodes, from, to), torch::ones({nodes, 2}, torch::kFloat64), labels);
}

TEST(OwnRule, NeighboursOfOneClassKeepTheLinearEquilibrium) {
  EXPECT_EQ(choose_own_table(blocks(2000, 50)).table, "own");
}

TEST(OwnRule, NeighboursOfOtherClassesTakeAStack) {
  const OwnChoice choice = choose_own_table(blocks(2000, 1));
  EXPECT_EQ(choice.table, "own-stack");
  EXPECT_NE(choice.why.find("adjusted homophily -1.00"), std::string::npos) << choice.why;
}

TEST(OwnRule, ArcsOfWhichSomeHaveNoReverseAreDirected) {
  EXPECT_EQ(choose_own_table(blocks(2000, 1, true)).table, "own-directed-stack");
}

TEST(OwnRule, FeaturesThatStaySparseTakeAThinF) {
  Dataset data = blocks(2000, 1);
  data.features = torch::ones({2000, 40}, torch::kFloat64).to_sparse().coalesce();
  const OwnChoice choice = choose_own_table(data);
  EXPECT_EQ(choice.table, "own-wide");
  EXPECT_NE(choice.why.find("40 features stay sparse"), std::string::npos) << choice.why;
  TrainConfig config;
  config.dataset = "./a-file.npz";
  std::set<std::string> applied;
  apply_recipe(config, {});
  apply_own_rule(config, {}, data, &applied);
  EXPECT_EQ(config.eignn().rank, 32);
  EXPECT_EQ(config.eignn().encoder, 0);
  EXPECT_EQ(config.eignn().equilibria, 1);
  EXPECT_EQ(config.feature_norm, FeatureNorm::none);
}

TEST(OwnRule, FewLabelsTakeTheSmallModel) {
  EXPECT_EQ(choose_own_table(blocks(300, 1)).table, "own");
}

TEST(OwnRule, ReadsNoLabelOfValidationOrTest) {
  Dataset data = blocks(2000, 1);
  const std::string before = choose_own_table(data).why;
  for (const auto& part : {data.splits[0].val, data.splits[0].test})
    data.labels.index_put_({part}, torch::zeros({part.numel()}, torch::kInt64));
  EXPECT_EQ(choose_own_table(data).why, before);
}

TEST(OwnRule, WhatWasGivenStays) {
  TrainConfig config;
  assign(config, {{"layers", "2"}, {"gamma", "0.3"}, {"skip", "on"}});
  EXPECT_EQ(apply_own_rule(config, {"layers", "gamma", "skip"}, blocks(2000, 1)).table, "own-stack");
  EXPECT_EQ(config.eignn().layers, 2);
  EXPECT_EQ(config.eignn().gamma, 0.3);
  EXPECT_EQ(config.eignn().source, Source::both);
}

// A variant is laid over [own]: what it does not set would be [own]'s.
TEST(OwnRule, TheVariantsSetAllThatOwnSets) {
  const auto tables = [](const std::string& file) {
    for (const EmbeddedRecipe& recipe : embedded_recipes())
      if (recipe.name == file) return parse_toml_tables(recipe.toml, recipe.name);
    return std::vector<TomlTable>();
  };
  std::vector<TomlSetting> own;
  for (const TomlTable& table : tables("eignn"))
    if (table.name == "own") own = table.settings;
  ASSERT_FALSE(own.empty());
  size_t variants = 0;
  for (const TomlTable& table : tables("named/eignn")) {
    if (table.name.rfind("own-", 0) != 0) continue;
    ++variants;
    for (const TomlSetting& setting : own)
      EXPECT_NE(table.find(setting.name), nullptr) << table.name << " lacks " << setting.name;
  }
  EXPECT_EQ(variants, 3u);
}

}  // namespace
}  // namespace eignn
