// Whether a disk has room for what will be written to it.
#pragma once

#include <string>

namespace eignn {

/// ResourceError where the disk of this folder has no room for `bytes` more. A folder that is not there yet
/// is looked for among its parents; where nothing can be asked, nothing is refused. `who` writes: "the run".
void require_space(const std::string& folder, double bytes, const std::string& who = "the run");

/// The same for a file that will be written. A device or a pipe has no disk.
void require_space_for_file(const std::string& path, double bytes, const std::string& who);

}  // namespace eignn
