#include "data/edge_list.h"

#include "fuzz_target.h"

namespace eignn {

void fuzz(std::string_view bytes) {
  parse_edge_list(bytes, "fuzz.edges");
}

}  // namespace eignn
