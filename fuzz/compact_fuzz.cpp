#include "data/compact.h"

#include "fuzz_target.h"

namespace eignn {

void fuzz(std::string_view bytes) {
  parse_compact(bytes, "fuzz.npz");
}

}  // namespace eignn
