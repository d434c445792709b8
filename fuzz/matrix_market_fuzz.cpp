#include "data/matrix_market.h"

#include "data/edge_weights.h"
#include "fuzz_target.h"

namespace eignn {

void fuzz(std::string_view bytes) {
  ArcList arcs = parse_matrix_market(bytes, "fuzz.mtx");
  if (!arcs.weight.empty()) take_weights(arcs, EdgeWeights::use, "fuzz");
}

}  // namespace eignn
