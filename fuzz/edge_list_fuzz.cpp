#include "data/edge_list.h"

#include "data/edge_weights.h"
#include "fuzz_target.h"

namespace eignn {

void fuzz(std::string_view bytes) {
  ArcList arcs = parse_edge_list(bytes, "fuzz.edges");
  if (!arcs.weight.empty()) take_weights(arcs, EdgeWeights::use, "fuzz");
}

}  // namespace eignn
