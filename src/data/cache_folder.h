// The folders that environment variables name.
#pragma once

#include <string>
#include <vector>

namespace eignn {

/// The value of an environment variable; empty when it is not set.
std::string environment(const char* variable);

/// The folder for files that can be recomputed or downloaded again: $EIGNN_CACHE, else $XDG_CACHE_HOME/eignn,
/// else ~/.cache/eignn; without $HOME eignn-cache in the system's temporary folder.
std::string cache_folder();

/// Where data sets are searched: each folder of $EIGNN_DATA (separated by colons), then `data` in the cache
/// folder.
std::vector<std::string> data_folders();

/// Where downloads go: the last of data_folders().
std::string download_folder();

}  // namespace eignn
