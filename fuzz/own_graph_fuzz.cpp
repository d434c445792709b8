#include "data/readers.h"

#include "folder_input.h"
#include "fuzz_target.h"

namespace eignn {

void fuzz(std::string_view bytes) {
  own_graph_reader.read(write_folder(bytes, {"features.csv", "labels.csv", "edges.csv", "splits.csv"}));
}

}  // namespace eignn
