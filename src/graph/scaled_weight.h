#pragma once

#include <fmt/format.h>

#include "eignn/error.h"

namespace eignn {

/// A_ij of an arc of this weight: exactly 1 where the weights are all equal, or there are none. ArgumentError
/// where weight and scale are so far apart that S, or the roots of its degrees, would come to the edge of the
/// floating range.
inline double scaled_weight(double weight, double scale) {
  constexpr double most_apart = 1e150;
  const double w = weight / scale;
  if (!(w >= 1 / most_apart && w <= most_apart)) {
    throw ArgumentError(
        "weight",
        fmt::format("the weight {} of an arc is too far from the scale {} of all weights", weight, scale),
        "leave out arcs that hardly count");
  }
  return w;
}

}  // namespace eignn
