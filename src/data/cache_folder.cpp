#include "data/cache_folder.h"

#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace eignn {

std::string environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

std::string cache_folder() {
  if (const auto own = environment("EIGNN_CACHE"); !own.empty()) return own;
  if (const auto cache = environment("XDG_CACHE_HOME"); !cache.empty()) return cache + "/eignn";
  if (const auto home = environment("HOME"); !home.empty()) return home + "/.cache/eignn";
  return (std::filesystem::temp_directory_path() / "eignn-cache").string();
}

std::string download_folder() {
  return cache_folder() + "/data";
}

std::vector<std::string> data_folders() {
  std::vector<std::string> folders;
  const std::string list = environment("EIGNN_DATA");
  std::string_view rest = list;
  while (!rest.empty()) {
    const size_t end = rest.find(':');
    if (const auto folder = rest.substr(0, end); !folder.empty()) folders.emplace_back(folder);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  folders.push_back(download_folder());
  return folders;
}

}  // namespace eignn
