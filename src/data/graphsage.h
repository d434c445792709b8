#pragma once

#include <string>

#include "data/file_dataset.h"

namespace eignn {

/// Whether a folder has exactly one file *-G.json.
bool is_graphsage(const std::string& folder);

/// Reads a set in GraphSAGE's layout from a folder (graphsage.cpp).
FileDataset read_graphsage(const std::string& folder);

}  // namespace eignn
