#pragma once

#include <string>
#include <vector>

namespace eignn {

/// Unpacks a possibly hostile zip archive into an existing folder, and returns the paths of the files in it.
/// A top folder that contains the whole archive is left out of the paths. DataError for members that would be
/// written elsewhere or are no plain files, and for archives that claim to unpack to an implausible size.
std::vector<std::string> unpack_zip(const std::string& archive, const std::string& folder);

}  // namespace eignn
