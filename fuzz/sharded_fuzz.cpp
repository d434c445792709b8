#include "data/sharded_folder.h"

#include "folder_input.h"
#include "fuzz_target.h"

namespace eignn {

void fuzz(std::string_view bytes) {
  const std::string folder =
      write_folder(bytes, {"shards.toml", "indptr.0.npy", "indices.0.npy", "features.0.npy", "labels.0.npy",
                           "split.0.npy", "weight.0.npy", "in_indptr.0.npy", "in_indices.0.npy",
                           "in_weight.0.npy", "labels_known.0.npy", "graph_id.0.npy"});
  const ShardedFolder set(folder);
  set.equal_parts(1);
  set.rows(0, set.nodes() / 2, ArcEnds::both);
  read_sharded(folder);
}

}  // namespace eignn
