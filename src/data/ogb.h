// Node-property sets of the Open Graph Benchmark, such as ogbn-arxiv.
#pragma once

#include <string>

#include "data/file_dataset.h"

namespace eignn {

/// Whether the folder holds raw/edge.csv and raw/num-node-list.csv, packed or not.
bool is_ogb(const std::string& folder);

FileDataset read_ogb(const std::string& folder);

}  // namespace eignn
