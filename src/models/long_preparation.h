// A line before a preparation during which there is no output.
#pragma once

#include <fmt/format.h>

#include <string>

#include "eignn/warning.h"

namespace eignn {

/// Warns where `seconds`, an estimate for two cores, are worth a line. `what` is prepared.
inline void warn_of_preparation(const std::string& what, double seconds) {
  constexpr double long_s = 5;
  if (seconds > long_s)
    warn(fmt::format("preparing: {} takes about {:.0f} s before the first epoch", what, seconds));
}

}  // namespace eignn
