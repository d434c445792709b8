#pragma once

#include <string>

#include "data/file_dataset.h"

namespace eignn {

/// Whether a folder has the graph of one of the three parts.
bool is_ppi(const std::string& folder);

/// Reads PPI, or another set in its layout, from a folder (ppi.cpp).
FileDataset read_ppi(const std::string& folder);

}  // namespace eignn
