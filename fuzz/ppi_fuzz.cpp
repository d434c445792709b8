#include "data/readers.h"

#include "folder_input.h"
#include "fuzz_target.h"

namespace eignn {

void fuzz(std::string_view bytes) {
  ppi_reader.read(
      write_folder(bytes, {"train_graph.json", "valid_graph.json", "test_graph.json", "train_graph_id.npy",
                           "valid_graph_id.npy", "test_graph_id.npy", "train_labels.npy", "valid_labels.npy",
                           "test_labels.npy", "train_feats.npy", "valid_feats.npy", "test_feats.npy"}));
}

}  // namespace eignn
