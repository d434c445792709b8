#pragma once

#include <string>

#include "data/file_dataset.h"

namespace eignn {

/// Reads the data set at `path`, a file or a folder, in whichever format it is (docs/data.md); the names and
/// the content of the files tell. None of the formats, and more than one, are InputErrors.
FileDataset read_dataset_file(const std::string& path);

/// Whether `name` means a path rather than the name of a set: it has a slash, or is there.
bool is_dataset_path(const std::string& name);

}  // namespace eignn
