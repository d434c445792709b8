#pragma once

#include <string>
#include <string_view>

#include "data/file_dataset.h"

namespace eignn {

/// Whether `path` is an .npz archive, or a folder of .npy files, with the adjacency matrix of a gnn-benchmark
/// set. What is no archive or folder is not; a damaged archive is an InputError.
bool is_gnn_benchmark(const std::string& path);

/// Reads a gnn-benchmark data set (gnn_benchmark.cpp): an .npz file, or a folder of .npy files.
FileDataset read_gnn_benchmark(const std::string& path);

/// The same from the bytes of an .npz file.
FileDataset parse_gnn_benchmark(std::string_view archive, const std::string& origin);

}  // namespace eignn
