#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "report/table.h"
#include "run/statistics.h"

namespace eignn {
namespace {

TEST(Table, AlignsColumnsByCharactersAndNotBytes) {
  EXPECT_EQ(format_table({"name", "µ"}, {{"γ", "1"}, {"long name", "23"}}),
            "name        µ\n"
            "γ           1\n"
            "long name  23\n");
}

TEST(MeanOfRuns, HasStudentsInterval) {
  // Ten runs: t(0.975, 9) = 2.262157.
  const MeanOfRuns m = mean_of_runs({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  EXPECT_DOUBLE_EQ(m.mean, 5.5);
  EXPECT_NEAR(m.std, 3.0276503540974917, 1e-12);
  EXPECT_NEAR(m.ci95, 2.2621571627 * 3.0276503540974917 / std::sqrt(10.0), 1e-6);
}

TEST(MeanOfRuns, OfOneRunHasNoSpread) {
  const MeanOfRuns m = mean_of_runs({0.25});
  EXPECT_EQ(m.mean, 0.25);
  EXPECT_EQ(m.std, 0);
  EXPECT_EQ(m.ci95, 0);
}

TEST(WelchsTest, AgreesWithScipy) {
  // scipy.stats.ttest_ind_from_stats(5, 2, 10, 7, 3, 12, equal_var=False) and (…, 62.92, 1.59,
  // 10, 64.54, 1.97, 10, …)
  EXPECT_NEAR(welch_p({5, 2, 10}, {7, 3, 12}), 0.07754644, 2e-6);
  EXPECT_NEAR(welch_p({62.92, 1.59, 10}, {64.54, 1.97, 10}), 0.05880615, 2e-6);
}

TEST(WelchsTest, OfConstantSeries) {
  EXPECT_EQ(welch_p({1, 0, 5}, {1, 0, 5}), 1);
  EXPECT_EQ(welch_p({1, 0, 5}, {2, 0, 5}), 0);
  EXPECT_TRUE(std::isnan(welch_p({1, 0, 1}, {2, 0, 5})));
}

// The share of all orders of the values whose count of falling pairs is at least that of the given groups.
double exact_trend_p(const std::vector<std::vector<double>>& groups) {
  std::vector<double> values;
  for (const auto& group : groups) values.insert(values.end(), group.begin(), group.end());
  const auto falling = [&](const std::vector<size_t>& order) {
    double count = 0;
    size_t start = 0;
    for (const auto& group : groups) {
      const size_t end = start + group.size();
      for (size_t i = start; i < end; ++i) {
        for (size_t j = end; j < order.size(); ++j) {
          const double a = values[order[i]], b = values[order[j]];
          count += b < a ? 1 : a == b ? 0.5 : 0;
        }
      }
      start = end;
    }
    return count;
  };
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const double ours = falling(order);
  double all = 0, as_many = 0;
  do {
    ++all;
    as_many += falling(order) >= ours;
  } while (std::next_permutation(order.begin(), order.end()));
  return as_many / all;
}

TEST(FallingTrend, IsNearTheExactTestOverAllOrders) {
  const std::vector<std::vector<std::vector<double>>> cases = {
      {{9, 7, 8}, {6, 7.5, 5}, {4, 5.5}},        // falls
      {{5, 6, 7}, {6, 7, 5}, {7, 6}},            // does not; ties
      {{100, 100, 99}, {100, 98}, {97, 98, 98}}  // falls, many ties
  };
  for (const auto& groups : cases) EXPECT_NEAR(falling_trend_p(groups), exact_trend_p(groups), 0.02);
}

TEST(FallingTrend, HasADirectionAndNeedsDifferences) {
  EXPECT_LT(falling_trend_p({{9, 9.1, 9.2}, {8, 8.1, 8.2}, {7, 7.1, 7.2}, {6, 6.1}}), 1e-3);
  EXPECT_GT(falling_trend_p({{6, 6.1, 6.2}, {7, 7.1, 7.2}, {8, 8.1, 8.2}, {9, 9.1}}), 0.99);
  EXPECT_EQ(falling_trend_p({{5, 5}, {5, 5}}), 1);
  EXPECT_EQ(falling_trend_p({{5}}), 1);
  EXPECT_EQ(falling_trend_p({}), 1);
  // A high first and a low last value among rising ones are no trend.
  EXPECT_GT(falling_trend_p({{60}, {50}, {52}, {54}, {56}, {58}, {59}}), 0.3);
}

TEST(PText, IsInPowersOfTenBelowAThousandth) {
  EXPECT_EQ(p_text(0.5598), "0.56");
  EXPECT_EQ(p_text(0.001), "0.001");
  EXPECT_EQ(p_text(0.00053), "5.3e-4");
  EXPECT_EQ(p_text(2.26e-15), "2.3e-15");
  EXPECT_EQ(p_text(9.99e-5), "1.0e-4");
  EXPECT_EQ(p_text(1), "1");
  EXPECT_EQ(p_text(0), "0 (no spread)");
  EXPECT_EQ(p_text(std::nan("")), "-");
}

}  // namespace
}  // namespace eignn
