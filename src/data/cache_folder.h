// The folders that the environment names.
#pragma once

#include <string>
#include <vector>

namespace eignn {

/// The value of an environment variable; empty when it is not set.
std::string environment(const char* variable);

/// Where what can be had again is kept: $EIGNN_CACHE, else $XDG_CACHE_HOME/eignn, else ~/.cache/eignn.
std::string cache_folder();

/// Where data sets are looked for: each folder of $EIGNN_DATA (a list with colons), then the cache's `data`.
std::vector<std::string> data_folders();

/// Where downloads go: the last of the above.
std::string download_folder();

}  // namespace eignn
