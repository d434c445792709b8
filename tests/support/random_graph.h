// Arcs between nodes drawn evenly, loops and repetitions among them.
#pragma once

#include <random>

#include "eignn/graph.h"

namespace eignn {

inline Graph random_graph(int64_t nodes, int64_t arcs, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int64_t> source, target;
  for (int64_t a = 0; a < arcs; ++a) {
    source.push_back(static_cast<int64_t>(random() % nodes));
    target.push_back(static_cast<int64_t>(random() % nodes));
  }
  return Graph::from_arcs(nodes, source, target);
}

}  // namespace eignn
