#include "data/readers.h"

#include "folder_input.h"
#include "fuzz_target.h"

namespace eignn {

void fuzz(std::string_view bytes) {
  tables_reader.read(write_folder(bytes, {"nodes.csv", "edges.csv", "nodes-more.csv"}));
}

}  // namespace eignn
