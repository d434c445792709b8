// Weights that are as far apart as wanted, for arcs that have none.
#pragma once

#include <cmath>
#include <random>

#include "eignn/graph.h"

namespace eignn {

/// The graph with a weight for each arc, 10^u with u drawn evenly from [-orders/2, orders/2].
inline Graph with_random_weights(Graph graph, double orders, uint64_t seed) {
  std::mt19937_64 random(seed);
  graph.weight.clear();
  for (int64_t a = 0; a < graph.arcs(); ++a) {
    const double u = static_cast<double>(random() >> 11) * 0x1p-53;  // [0, 1), the same everywhere
    graph.weight.push_back(std::pow(10.0, orders * (u - 0.5)));
  }
  return graph;
}

}  // namespace eignn
