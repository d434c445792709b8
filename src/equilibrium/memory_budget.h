// How much of a limit on the memory of the process is left.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>

#include "eignn/error.h"
#include "graph/resident_memory.h"

namespace eignn {

/// A limit on the memory of the process, and what it has taken of it.
struct MemoryBudget {
  uint64_t limit = 0;  // bytes; 0: none
  std::function<uint64_t()> taken = resident_memory;

  bool is_limited() const { return limit > 0; }

  /// What is left, in bytes.
  double left() const { return std::max(0.0, static_cast<double>(limit) - static_cast<double>(taken())); }

  /// Whether there is room for `bytes` more.
  bool has(double bytes) const { return !is_limited() || bytes <= left(); }

  /// ResourceError where `bytes` more exceed the limit; `what` needs them.
  void require(double bytes, const std::string& what, const std::string& remedy) const {
    if (has(bytes)) return;
    const auto mega = [](double count) { return std::ceil(std::ldexp(count, -20)); };
    const auto used = static_cast<double>(taken());
    throw ResourceError(
        fmt::format("{} needs {:.0f}M beside the {:.0f}M that are taken, and the limit is {:.0f}M", what,
                    mega(bytes), mega(used), mega(static_cast<double>(limit))),
        "memory", fmt::format("give {:.0f}M or more{}", mega(used + bytes), remedy));
  }
};

}  // namespace eignn
