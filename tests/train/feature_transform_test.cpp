#include "train/feature_transform.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>

#include "eignn/error.h"
#include "support/damaged_bytes.h"
#include "support/message_of.h"
#include "train/assemble.h"

namespace eignn {
namespace {

constexpr double gap = std::numeric_limits<double>::quiet_NaN();

Dataset data_of(const std::vector<std::vector<double>>& rows, std::vector<FeatureColumn> columns = {}) {
  Dataset data;
  data.name = "toy";
  const auto n = static_cast<int64_t>(rows.size()), m = static_cast<int64_t>(rows[0].size());
  data.graph = Graph::from_arcs(n, {}, {});
  data.features = torch::empty({n, m}, torch::kFloat64);
  for (int64_t v = 0; v < n; ++v)
    for (int64_t j = 0; j < m; ++j) data.features[v][j] = rows[v][j];
  data.columns = std::move(columns);
  return data;
}

torch::Tensor nodes(const std::vector<int64_t>& list) {
  return torch::tensor(list, torch::kInt64);
}

std::vector<double> column(const torch::Tensor& X, int64_t j) {
  const auto c = X.select(1, j).contiguous();
  return {c.data_ptr<double>(), c.data_ptr<double>() + c.numel()};
}

using Numbers = std::vector<double>;
using Names = std::vector<std::string>;

TEST(FeatureTransform, WithoutNormalisationOrNamesTheTensorIsTheSameOne) {
  const Dataset data = data_of({{1, 1}, {2, 1}});
  const auto transform = FeatureTransform::fit(data, nodes({0}), FeatureNorm::none);
  EXPECT_FALSE(transform.is_fitted());
  EXPECT_TRUE(transform.apply(data).is_same(data.features));
  EXPECT_EQ(transform.names(), (Names{"0", "1"}));
  EXPECT_TRUE(transform.treatments().empty());
}

TEST(FeatureTransform, RowDividesByTheSumAndLeavesRowsOfZeros) {
  const Dataset data = data_of({{1, 3}, {0, 0}});
  const auto transform = FeatureTransform::fit(data, nodes({0}), FeatureNorm::row);
  EXPECT_TRUE(torch::equal(transform.apply(data), data_of({{0.25, 0.75}, {0, 0}}).features));
  const Dataset negative = data_of({{1, -3}, {0, 0}});
  EXPECT_CONTAINS(message_of<DataError>([&] { transform.apply(negative); }), "negative");
}

TEST(FeatureTransform, GapsTakeTheMedianOfTheTrainingNodesAndAreMarked) {
  const Dataset data = data_of({{1}, {5}, {gap}, {3}, {1000}, {gap}}, {{"age", {}}});
  const auto transform = FeatureTransform::fit(data, nodes({0, 1, 2, 3}), FeatureNorm::none);
  EXPECT_EQ(transform.names(), (Names{"age", "age (missing)"}));
  const auto X = transform.apply(data);
  EXPECT_EQ(column(X, 0), (Numbers{1, 5, 3, 3, 1000, 3}));
  EXPECT_EQ(column(X, 1), (Numbers{0, 0, 1, 0, 0, 1}));
  const auto even = FeatureTransform::fit(data, nodes({0, 1, 2}), FeatureNorm::none);
  EXPECT_EQ(column(even.apply(data), 0)[5], 3) << "the mean of the two middle ones";
}

TEST(FeatureTransform, GapsOutsideTheTrainingNodesAreFilledWithoutAMark) {
  const Dataset data = data_of({{1}, {5}, {6}, {gap}}, {{"age", {}}});
  const auto transform = FeatureTransform::fit(data, nodes({0, 1, 2}), FeatureNorm::standard);
  EXPECT_EQ(transform.names(), Names{"age"});
  EXPECT_TRUE(torch::isfinite(transform.apply(data)).all().item<bool>());
}

TEST(FeatureTransform, StandardHasMeanZeroAndDeviationOneOverTheTrainingNodes) {
  const auto X = torch::randn({50, 3}, torch::kFloat64) * torch::tensor({1e-6, 1.0, 1e200}, torch::kFloat64);
  Dataset data = data_of({{0}});
  data.graph = Graph::from_arcs(50, {}, {});
  data.features = X + torch::tensor({7.0, 0.0, 1e201}, torch::kFloat64);
  const auto training = torch::arange(0, 30, torch::kInt64);
  const auto transform = FeatureTransform::fit(data, training, FeatureNorm::standard);
  const auto Y = transform.apply(data).index_select(0, training);
  EXPECT_LT(Y.mean(0).abs().max().item<double>(), 1e-8);
  EXPECT_LT((Y.square().mean(0) - 1).abs().max().item<double>(), 1e-8);
}

TEST(FeatureTransform, RawUnitsUndoTheScale) {
  const Dataset data = data_of({{2, 0}, {4, 1}, {9, gap}}, {{"age", {}}, {"city", {"Oslo", "Rome"}}});
  const auto transform = FeatureTransform::fit(data, {}, FeatureNorm::standard);
  const auto X = transform.apply(data);
  const auto raw = transform.raw_units();
  ASSERT_EQ(static_cast<int64_t>(raw.size()), transform.outputs());
  const Numbers undone = column(X * raw[0].scale + raw[0].shift, 0);
  for (int v = 0; v < 3; ++v) EXPECT_NEAR(undone[v], data.features[v][0].item<double>(), 1e-12);
  EXPECT_EQ(raw[1].scale, 1);
  EXPECT_EQ(raw[1].shift, 0);
}

TEST(FeatureTransform, WhatIsConstantOverTheTrainingNodesIsLeftOut) {
  const Dataset data = data_of({{1, 5, gap, 0}, {2, 5, gap, 0}, {3, 6, 1, 1}},
                               {{"a", {}}, {"constant", {}}, {"empty", {}}, {"one word", {"x", "y"}}});
  const auto transform = FeatureTransform::fit(data, nodes({0, 1}), FeatureNorm::none);
  EXPECT_EQ(transform.names(), Names{"a"});
  EXPECT_EQ(transform.treatments()[1].words, "the same at all training nodes: left out");
  EXPECT_EQ(transform.treatments()[0].words, "");
  EXPECT_CONTAINS(message_of<DataError>([&] { FeatureTransform::fit(data, nodes({1}), FeatureNorm::none); }),
                  "every feature is the same");
}

TEST(FeatureTransform, ACategoryHasAColumnForEachWordOfTheTrainingNodesAndOneForGaps) {
  const Dataset data = data_of({{2}, {0}, {gap}, {1}}, {{"city", {"Oslo", "Paris", "Rome"}}});
  const auto transform = FeatureTransform::fit(data, nodes({0, 1, 2}), FeatureNorm::standard);
  EXPECT_EQ(transform.names(), (Names{"city = Oslo", "city = Rome", "city (missing)"}));
  const auto X = transform.apply(data);
  EXPECT_EQ(column(X, 0), (Numbers{0, 1, 0, 0}));
  EXPECT_EQ(column(X, 1), (Numbers{1, 0, 0, 0}));
  EXPECT_EQ(column(X, 2), (Numbers{0, 0, 1, 0}));
}

TEST(FeatureTransform, RareWordsBeyondTheLimitShareAColumn) {
  FeatureColumn words{"city", {}};
  std::vector<std::vector<double>> rows;
  for (int k = 0; k < 40; ++k) {
    words.words.push_back("w" + std::to_string(k));
    for (int times = 0; times <= (k >= 20 ? 1 : 0); ++times) rows.push_back({static_cast<double>(k)});
  }
  const Dataset data = data_of(rows, {words});
  const auto transform = FeatureTransform::fit(data, {}, FeatureNorm::none);
  EXPECT_EQ(transform.outputs(), static_cast<int64_t>(FeatureTransform::most_words) + 1);
  EXPECT_EQ(transform.names()[0], "city = w0") << "of equally rare words the first are kept";
  EXPECT_EQ(transform.names()[29], "city = w39") << "the frequent ones are kept";
  EXPECT_EQ(transform.names()[30], "city (other)");
  const auto X = transform.apply(data);
  EXPECT_TRUE(torch::equal(X.sum(1), torch::ones({X.size(0)}, torch::kFloat64)));
  EXPECT_EQ(X.select(1, 30).sum().item<double>(), 10);
}

TEST(FeatureTransform, ColumnsAreFoundByNameToTheBit) {
  const Dataset data =
      data_of({{0.1, 0, 7}, {0.7, 1, gap}, {0.3, 1, 9}}, {{"a", {}}, {"city", {"Oslo", "Rome"}}, {"b", {}}});
  const auto transform = FeatureTransform::fit(data, {}, FeatureNorm::standard);
  // Other columns in front, and another order of the words.
  const Dataset permuted =
      data_of({{7, 1, 0.1}, {gap, 0, 0.7}, {9, 0, 0.3}}, {{"b", {}}, {"city", {"Rome", "Oslo"}}, {"a", {}}});
  EXPECT_TRUE(torch::equal(transform.apply(permuted), transform.apply(data)));
}

TEST(FeatureTransform, AColumnThatIsMissingOrSurplusIsNamed) {
  const Dataset data = data_of({{1, 1, 3}, {2, 1, 4}}, {{"a", {}}, {"same", {}}, {"b", {}}});
  const auto transform = FeatureTransform::fit(data, {}, FeatureNorm::none);
  const auto refusal = [&](const Dataset& other) {
    return message_of<DataError>([&] { transform.apply(other); });
  };
  EXPECT_CONTAINS(refusal(data_of({{1, 1}}, {{"a", {}}, {"same", {}}})),
                  "the data lack it (toy, column 'b')");
  EXPECT_CONTAINS(refusal(data_of({{1, 1, 2, 3}}, {{"a", {}}, {"same", {}}, {"b", {}}, {"c", {}}})),
                  "without this feature (toy, column 'c')");
  EXPECT_EQ(transform.apply(data_of({{1, 2}}, {{"b", {}}, {"a", {}}})).size(1), 2)
      << "a column that was left out need not be there";
  EXPECT_CONTAINS(refusal(data_of({{1, 2}})), "2 features, and the model was trained on 3");
  const auto plain = FeatureTransform::fit(data_of({{1, 2}}), {}, FeatureNorm::none);
  EXPECT_CONTAINS(message_of<DataError>([&] { plain.apply(data_of({{1, 2, 3}})); }), "trained on 2");
}

TEST(FeatureTransform, WordsWhereNumbersWereAreRefusedAndNumbersAreFoundAmongWords) {
  const Dataset numbers = data_of({{1}, {2}}, {{"zone", {}}});
  const Dataset words = data_of({{0}, {1}, {2}}, {{"zone", {"1", "2", "2a"}}});
  const auto of_numbers = FeatureTransform::fit(numbers, {}, FeatureNorm::none);
  EXPECT_CONTAINS(message_of<DataError>([&] { of_numbers.apply(words); }), "column 'zone'");
  const auto of_words = FeatureTransform::fit(words, {}, FeatureNorm::none);
  EXPECT_TRUE(torch::equal(of_words.apply(numbers), of_words.apply(words).narrow(0, 0, 2)));
}

TEST(FeatureTransform, JsonHoldsAllOfIt) {
  const Dataset data = data_of({{0.1, 0, 7, 1}, {1.0 / 3, 1, gap, 1}, {0.3, 1, 9, 1}},
                               {{"a", {}}, {"city", {"Oslo", "R\"ome"}}, {"b", {}}, {"same", {}}});
  for (const FeatureNorm norm : {FeatureNorm::none, FeatureNorm::standard}) {
    const auto transform = FeatureTransform::fit(data, {}, norm);
    const std::string text = transform.to_json();
    EXPECT_EQ(text.find('\n'), std::string::npos);
    const auto again = FeatureTransform::from_json(text, "model");
    EXPECT_EQ(again.to_json(), text);
    EXPECT_TRUE(torch::equal(again.apply(data), transform.apply(data)));
    EXPECT_EQ(again.names(), transform.names());
  }
  const auto plain = FeatureTransform::fit(data_of({{1, 2}}), {}, FeatureNorm::row);
  EXPECT_EQ(FeatureTransform::from_json(plain.to_json(), "model").to_json(), plain.to_json());
}

TEST(FeatureTransform, KnowsWhatItsColumnsWereAndWhichWereNotUsed) {
  Dataset data = data_of({{1, 0, 7}, {2, 1, 7}}, {{"a", {}}, {"city", {"Oslo", "Rome"}}, {"same", {}}});
  data.report.push_back({"nodes.csv", "remark", ColumnRole::text, 0, ""});
  const auto transform = FeatureTransform::fit(data, {}, FeatureNorm::none);
  const auto again = FeatureTransform::from_json(transform.to_json(), "model");
  EXPECT_EQ(again.to_json(), transform.to_json());
  std::string known;
  for (const TrainedColumn& column : again.trained_columns())
    known += column.name + " " + name(column.role) + "; ";
  EXPECT_EQ(known, "remark text; a numbers; city category; ") << "what was constant may be anything";
  // A column that the training did not use may be there, as what it may.
  const Dataset with =
      data_of({{1, 0, 7, 0}}, {{"a", {}}, {"city", {"Rome"}}, {"same", {}}, {"remark", {"hi"}}});
  EXPECT_EQ(again.apply(with).size(1), again.outputs());
}

TEST(FeatureTransform, ANumberIsTheWordThatItWasWhateverItsSpelling) {
  const auto transform =
      FeatureTransform::fit(data_of({{0}, {1}, {2}}, {{"zone", {"3", "4", "a"}}}), {}, FeatureNorm::none);
  EXPECT_TRUE(torch::equal(transform.apply(data_of({{0}, {1}}, {{"zone", {"3.0", "4"}}})),
                           transform.apply(data_of({{0}, {1}}, {{"zone", {"3", "4"}}}))));
}

TEST(FeatureTransform, DamagedJsonIsRefused) {
  const auto refusal = [](const std::string& text) {
    return message_of<DataError>([&] { FeatureTransform::from_json(text, "model.safetensors"); });
  };
  EXPECT_CONTAINS(refusal("{"), "damaged (model.safetensors)");
  EXPECT_CONTAINS(refusal("[]"), "damaged");
  EXPECT_CONTAINS(refusal(R"({"version":"eignn-features-9"})"), "another version");
  const Dataset data = data_of({{0.5, 0}, {1, 1}}, {{"a", {}}, {"city", {"Oslo", "Rome"}}});
  const std::string text = FeatureTransform::fit(data, {}, FeatureNorm::standard).to_json();
  survive_random_damage(text, 5000,
                        [](const std::string& damaged) { FeatureTransform::from_json(damaged, "model"); });
}

TEST(Prepared, FitsOnTheTrainingNodesOfTheSplitAndKeepsTheTransform) {
  Dataset data = data_of({{1}, {2}, {4}, {8}}, {{"a", {}}});
  data.splits = {{nodes({0, 1}), nodes({2}), nodes({3})}, {nodes({2, 3}), nodes({0}), nodes({1})}};
  TrainConfig config;
  config.feature_norm = FeatureNorm::standard;
  EXPECT_EQ(column(prepared(data, config).features, 0), (Numbers{-1, 1, 5, 13}));
  config.split = "1";
  const Dataset second = prepared(data, config);
  EXPECT_EQ(column(second.features, 0), (Numbers{-2.5, -2, -1, 1}));
  EXPECT_EQ(second.feature_name(0), "a");
  ASSERT_TRUE(second.transform);
  EXPECT_TRUE(prepared(second, config).features.is_same(second.features)) << "what is prepared stays";
  // A checkpoint's own transformation wins over the split.
  config.split = "0";
  EXPECT_TRUE(torch::equal(prepared(data, config, second.transform.get()).features, second.features));
}

TEST(Prepared, LeavesFeaturesWithoutNamesAsTheyAre) {
  Dataset data = data_of({{1, 7}, {2, 7}});
  const Dataset same = prepared(data, TrainConfig());
  EXPECT_TRUE(same.features.is_same(data.features));
  EXPECT_TRUE(same.columns.empty());
}

}  // namespace
}  // namespace eignn
