#include "data/readers.h"

#include "folder_input.h"
#include "fuzz_target.h"

namespace eignn {

void fuzz(std::string_view bytes) {
  ogb_reader.read(write_folder(
      bytes, {"raw/num-node-list.csv", "raw/num-edge-list.csv", "raw/edge.csv.gz", "raw/node-feat.csv",
              "raw/node-label.csv", "split/time/train.csv", "split/time/valid.csv", "split/time/test.csv"}));
}

}  // namespace eignn
