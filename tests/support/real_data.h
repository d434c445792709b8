#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace eignn {

/// The path of a file or folder of a published data set, `relative` to the first of the folders in the
/// environment variable EIGNN_DATA (a list with colons) that has it; nothing when none has.
///
///     const auto path = real_data("heterophilous_npz/texas.npz");
///     if (!path) GTEST_SKIP() << no_real_data;
inline std::optional<std::string> real_data(const std::string& relative) {
  const char* variable = std::getenv("EIGNN_DATA");
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const size_t end = rest.find(':');
    const std::string_view folder = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    const std::string path = std::string(folder) + "/" + relative;
    std::error_code unreadable;
    if (!folder.empty() && std::filesystem::exists(path, unreadable)) return path;
  }
  return std::nullopt;
}

/// What a test says that is skipped without them.
inline constexpr const char* no_real_data = "the data set is in no folder of EIGNN_DATA";

}  // namespace eignn
