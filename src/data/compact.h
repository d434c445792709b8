#pragma once

#include <string>
#include <string_view>

#include "data/raw_dataset.h"

namespace eignn {

/// A data set in the compact format (compact.cpp), from the bytes of an .npz file.
RawDataset parse_compact(std::string_view archive, const std::string& origin);

/// Writes a data set in the compact format: a compressed .npz when `path` ends in .npz, else a folder of .npy
/// files, which must not exist yet. It appears whole or not at all; the same set gives the same bytes.
void write_compact(const RawDataset& set, const std::string& path);

}  // namespace eignn
