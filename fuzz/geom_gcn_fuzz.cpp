#include "data/readers.h"

#include "folder_input.h"
#include "fuzz_target.h"

namespace eignn {

void fuzz(std::string_view bytes) {
  geom_gcn_reader.read(write_folder(bytes, {"out1_node_feature_label.txt", "out1_graph_edges.txt"}));
}

}  // namespace eignn
