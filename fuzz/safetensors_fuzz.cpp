#include "data/safetensors.h"

#include "fuzz_target.h"

namespace eignn {

void fuzz(std::string_view bytes) {
  parse_safetensors(bytes, "fuzz.safetensors");
}

}  // namespace eignn
