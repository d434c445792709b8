#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

namespace eignn {

/// The whole number that a file stores as a float; nothing for fractions, for numbers that are not finite,
/// and beyond 2^53, where doubles do not represent all whole numbers.
inline std::optional<int64_t> whole_value(double value) {
  constexpr double exact = 9007199254740992.0;
  if (!(std::abs(value) <= exact) || value != std::floor(value)) return std::nullopt;
  return static_cast<int64_t>(value);
}

}  // namespace eignn
