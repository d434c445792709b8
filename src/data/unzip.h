#pragma once

#include <string>
#include <vector>

namespace eignn {

/// Unpacks a zip archive, perhaps a hostile one, into a folder that exists, and returns the files' paths
/// inside it. A folder that holds all of the archive is left out of the paths. Refuses, with a DataError,
/// what would be written elsewhere or is no plain file, and archives that claim to unpack beyond reason.
std::vector<std::string> unpack_zip(const std::string& archive, const std::string& folder);

}  // namespace eignn
