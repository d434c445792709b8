#include "data/readers.h"

#include "folder_input.h"
#include "fuzz_target.h"

namespace eignn {

void fuzz(std::string_view bytes) {
  graphsage_reader.read(
      write_folder(bytes, {"a-G.json", "a-id_map.json", "a-class_map.json", "a-feats.npy"}));
}

}  // namespace eignn
