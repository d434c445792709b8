#include "data/node_link.h"

#include "fuzz_target.h"

namespace eignn {

void fuzz(std::string_view bytes) {
  parse_node_link(bytes, "fuzz.json");
}

}  // namespace eignn
