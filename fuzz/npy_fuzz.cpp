#include "data/npy.h"

#include "fuzz_target.h"

namespace eignn {

void fuzz(std::string_view bytes) {
  parse_npy(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), "fuzz.npy");
}

}  // namespace eignn
