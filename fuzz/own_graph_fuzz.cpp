#include "data/own_graph.h"

#include "folder_input.h"
#include "fuzz_target.h"

namespace eignn {

void fuzz(std::string_view bytes) {
  read_own_graph(write_folder(bytes, {"features.csv", "labels.csv", "edges.csv", "splits.csv"}));
}

}  // namespace eignn
