#include "run/saving_pace.h"

#include <gtest/gtest.h>

namespace eignn {
namespace {

struct Hour {
  double first = 0, longest_gap = 0, share = 0;
};

// Epochs of `epoch` seconds for an hour, where saving takes `cost` seconds.
Hour hour(double epoch, double cost) {
  SavingPace pace;
  Hour out;
  double now = 0, saved = 0, saving = 0;
  while (now < 3600) {
    now += epoch;
    out.longest_gap = std::max(out.longest_gap, now - saved);
    if (!pace.is_due(now - saved)) continue;
    if (out.first == 0) out.first = now;
    now += cost;
    saving += cost;
    pace.saved_in(cost);
    saved = now;
  }
  out.share = saving / now;
  return out;
}

TEST(SavingPace, LosesAtMostFiveSecondsAndAnEpochWhereSavingIsCheap) {
  for (const double epoch : {0.001, 0.5, 3.0}) {
    const Hour cheap = hour(epoch, 0.01);
    EXPECT_LE(cheap.first, 5 + epoch + 1e-9);
    EXPECT_LE(cheap.longest_gap, 5 + epoch + 1e-6);
    EXPECT_LT(cheap.share, 0.02);
  }
}

TEST(SavingPace, TakesTwoPercentOfTheTimeAtMost) {
  for (const double cost : {0.05, 0.2, 1.0, 4.0, 20.0}) {
    const Hour dear = hour(0.1, cost);
    EXPECT_LE(dear.first, 5.2);
    EXPECT_LT(dear.share, 0.02 + cost / 3600) << cost;  // the first save is not paid for yet
    EXPECT_GT(dear.share, 0.004) << "and yet it is saved";
  }
}

}  // namespace
}  // namespace eignn
