// The paper's statements about a figure, as predicates that our own results are checked against.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace eignn {

/// The mean of the runs at one point of a curve.
struct PointFigure {
  double mean = 0;
  double train_loss = 0;  // at the kept weights
  std::string x_text;
  std::vector<double> runs = {};  // the values whose mean it is
};
/// The curves of a panel: by series, then by x.
using PanelFigures = std::map<std::string, std::map<double, PointFigure>>;

struct Checked {
  int64_t points = 0;                 // number of comparisons; 0: the runs for it are missing
  std::vector<std::string> breaches;  // "ignn 61.20 at 50"
  std::vector<std::string> evidence =
      {};  // of comparisons that hold, where a test was made: "ignn: p = 1e-9"
  std::vector<std::string> controls = {};  // the control shows the same where there is nothing to show

  /// "holds", "fails", or "not shown": it holds, and so it does in the control.
  const char* verdict() const;
};

struct Claim {
  std::string text;  // the paper's statement
  std::function<Checked(const PanelFigures&)> check;
};

/// The x from `from` to `to`, inclusive.
struct Range {
  double from = -std::numeric_limits<double>::infinity();
  double to = std::numeric_limits<double>::infinity();
};

/// The series' mean is `level` or more, within half a unit.
Claim reaches(std::string text, std::string series, double level, Range range = {});
/// The means of these series are at most `within` away from `level`.
Claim lies_near(std::string text, std::vector<std::string> series, double level, double within);
/// The mean of `higher` is above that of each of `lower`.
Claim is_above(std::string text, std::string higher, std::vector<std::string> lower, Range range = {});
/// The means of these series are at least `low`'s and at most `high`'s.
Claim lies_between(std::string text, std::vector<std::string> series, std::string low, std::string high);
/// The runs of each series fall with x: Jonckheere and Terpstra's trend test over all of them, p < 0.05.
Claim falls(std::string text, std::vector<std::string> series, Range range = {});
/// The training loss is no less than nine tenths of `level`.
Claim loss_stays(std::string text, std::string series, double level, Range range = {});

/// The claim, that `higher` is above `lower`, counts as not shown where `higher` is significantly above
/// `lower` (Welch's test, p < 0.05) at a point of `control` too: there the data hold nothing for it to be
/// better by.
Claim unless_control_has_it(Claim claim, const std::string& higher, const std::string& lower, Range control);

}  // namespace eignn
