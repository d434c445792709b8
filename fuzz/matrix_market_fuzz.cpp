#include "data/matrix_market.h"

#include "fuzz_target.h"

namespace eignn {

void fuzz(std::string_view bytes) {
  parse_matrix_market(bytes, "fuzz.mtx");
}

}  // namespace eignn
