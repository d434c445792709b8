#pragma once

#include <algorithm>

namespace eignn {

/// When a run saves its state: after 5 s at first, so that a crash costs no more than that, and then so
/// rarely that saving takes less than 2 % of the time.
class SavingPace {
 public:
  /// `seconds`: since the run began, or since it last saved.
  bool is_due(double seconds) const { return seconds > std::max(most_lost, last_ / largest_share); }
  void saved_in(double seconds) { last_ = seconds; }

 private:
  static constexpr double most_lost = 5, largest_share = 0.02;
  double last_ = 0;
};

}  // namespace eignn
