#pragma once

#include <string>
#include <string_view>

#include "data/file_dataset.h"

namespace eignn {

/// Whether `path` is an .npz archive, or a folder of .npy files, with `edges` and one of `node_features` and
/// `node_labels`. What is no archive or folder is not; a damaged archive is an InputError.
bool is_compact(const std::string& path);

/// Reads a data set in the compact format (compact.cpp): an .npz file, or a folder of .npy files.
FileDataset read_compact(const std::string& path);

/// The same from the bytes of an .npz file.
FileDataset parse_compact(std::string_view archive, const std::string& origin);

/// Writes a data set in the compact format: a compressed .npz when `path` ends in .npz, else a folder of .npy
/// files, which must not exist yet. It appears whole or not at all; the same set gives the same bytes.
void write_compact(const FileDataset& set, const std::string& path);

}  // namespace eignn
