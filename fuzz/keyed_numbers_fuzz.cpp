#include "data/keyed_numbers.h"

#include "fuzz_target.h"

namespace eignn {

void fuzz(std::string_view bytes) {
  parse_keyed_numbers(bytes, "fuzz.json");
}

}  // namespace eignn
