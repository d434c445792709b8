#include "data/npz.h"

#include "fuzz_target.h"

namespace eignn {

void fuzz(std::string_view bytes) {
  const NpzReader archive(bytes, "fuzz.npz");
  for (const std::string& name : archive.names()) archive.read(name);
}

}  // namespace eignn
