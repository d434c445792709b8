// Readers of folders are fuzzed through a folder in memory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace eignn {

/// Cuts the bytes at each "\n====\n" and writes the pieces to `files`, in their order, in a folder of this
/// process in $TMPDIR, else in /dev/shm; without a piece there is no file. Returns the folder, which stays:
/// libFuzzer ends without a chance to remove it.
std::string write_folder(std::string_view bytes, const std::vector<std::string>& files);

}  // namespace eignn
