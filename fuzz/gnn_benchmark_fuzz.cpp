#include "data/readers.h"

#include "fuzz_target.h"

namespace eignn {

void fuzz(std::string_view bytes) {
  parse_gnn_benchmark(bytes, "fuzz.npz");
}

}  // namespace eignn
