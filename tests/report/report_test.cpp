#include <gtest/gtest.h>

#include <cmath>

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

}  // namespace
}  // namespace eignn
