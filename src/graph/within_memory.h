// Graphs that do not fit into memory are refused by our own error.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <new>
#include <stdexcept>

#include "eignn/error.h"

namespace eignn {

/// More nodes than anybody has: below it sums and products with small numbers stay in 64 bits.
constexpr int64_t most_nodes = int64_t{1} << 60;

/// work(), with ResourceError for what the allocator throws.
template <class Work>
auto within_memory(int64_t nodes, int64_t arcs, Work work) {
  const auto refuse = [&] {
    return ResourceError(fmt::format("{} nodes and {} arcs do not fit into memory", nodes, arcs), "graph",
                         "take a part of the graph");
  };
  // No machine has room for so many, and a sanitizer ends the program at the allocation.
  constexpr int64_t most = int64_t{1} << 36;
  if (nodes > most || arcs > most) throw refuse();
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw refuse();
  } catch (const std::length_error&) {
    throw refuse();
  }
}

}  // namespace eignn
