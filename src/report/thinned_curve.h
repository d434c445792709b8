// Curves of thousands of epochs, drawn with a few hundred points.
#pragma once

#include <cstddef>
#include <vector>

namespace eignn {

/// Some points of y_0, y_1, …: ascending places, and the values there.
struct ThinnedCurve {
  std::vector<size_t> place;
  std::vector<double> value;
};

/// At most about `most` points, among them the first, the last, and the smallest and the largest of every
/// stretch of the curve, so that no peak is lost. Where a stretch has values that are not finite, the first
/// of them is kept too: the drawn curve breaks there. A curve that is short enough is kept whole.
ThinnedCurve thinned(const std::vector<double>& y, size_t most);

}  // namespace eignn
