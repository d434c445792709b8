#include "data/readers.h"

#include "folder_input.h"
#include "fuzz_target.h"

namespace eignn {

void fuzz(std::string_view bytes) {
  musae_reader.read(write_folder(bytes, {"a_edges.csv", "a_target.csv", "a_features.json"}));
}

}  // namespace eignn
