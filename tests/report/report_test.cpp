#include <gtest/gtest.h>

#include <cmath>

#include "report/statistics.h"
#include "report/table.h"

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

}  // namespace
}  // namespace eignn
