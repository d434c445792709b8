#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace eignn {

inline bool file_exists(const std::string& path) {
  std::error_code unreadable;
  return std::filesystem::exists(path, unreadable);
}

/// The names of a folder's files that end in `suffix`, without it, in alphabetical order; empty when there is
/// no such folder. With "-G.json" the file ppi-G.json gives "ppi".
inline std::vector<std::string> stems_in(const std::string& folder, std::string_view suffix) {
  std::vector<std::string> stems;
  std::error_code unreadable;
  std::filesystem::directory_iterator file(folder, unreadable);
  for (; !unreadable && file != std::filesystem::directory_iterator(); file.increment(unreadable)) {
    const std::string name = file->path().filename().string();
    if (name.size() <= suffix.size()) continue;
    const size_t stem = name.size() - suffix.size();
    if (std::string_view(name).substr(stem) == suffix) stems.push_back(name.substr(0, stem));
  }
  std::sort(stems.begin(), stems.end());
  return stems;
}

}  // namespace eignn
