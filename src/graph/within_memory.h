// Refuses graphs that do not fit into memory with a ResourceError.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <new>
#include <stdexcept>

#include "eignn/error.h"

namespace eignn {

/// The largest number of nodes: sums and small multiples of it fit into 64 bits.
constexpr int64_t most_nodes = int64_t{1} << 60;

/// The largest number of nodes of a graph in memory, whose arcs have ids of 32 bits.
constexpr int64_t most_nodes_in_memory = std::numeric_limits<int32_t>::max();

/// Runs work() and throws ResourceError where memory is exhausted.
template <class Work>
auto within_memory(int64_t nodes, int64_t arcs, Work work) {
  const auto refuse = [&] {
    return ResourceError(fmt::format("{} nodes and {} arcs do not fit into memory", nodes, arcs), "graph",
                         "take a part of the graph");
  };
  if (nodes > most_nodes_in_memory) throw refuse();
  // No machine has memory for so many, and a sanitizer would end the program at the allocation.
  constexpr int64_t most = int64_t{1} << 36;
  if (arcs > most) throw refuse();
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw refuse();
  } catch (const std::length_error&) {
    throw refuse();
  }
}

}  // namespace eignn
