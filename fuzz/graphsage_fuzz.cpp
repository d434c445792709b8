#include "data/graphsage.h"

#include "folder_input.h"
#include "fuzz_target.h"

namespace eignn {

void fuzz(std::string_view bytes) {
  read_graphsage(write_folder(bytes, {"a-G.json", "a-id_map.json", "a-class_map.json", "a-feats.npy"}));
}

}  // namespace eignn
