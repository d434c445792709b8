#include "data/disk_space.h"

#include <fmt/format.h>

#include <filesystem>

#include "eignn/error.h"

namespace eignn {

namespace fs = std::filesystem;

void require_space(const std::string& folder, double bytes, const std::string& who) {
  std::error_code failed;
  fs::path place = fs::absolute(folder, failed);
  while (!failed && !fs::exists(place, failed) && place.has_relative_path()) {
    failed.clear();
    place = place.parent_path();
  }
  const auto space = fs::space(place, failed);
  if (failed || static_cast<double>(space.available) >= bytes) return;
  throw ResourceError(fmt::format("{} will write about {:.1f} MB, and the disk has room for {:.1f} MB", who,
                                  bytes / 1e6, static_cast<double>(space.available) / 1e6),
                      folder, "free some space, or choose another disk");
}

void require_space_for_file(const std::string& path, double bytes, const std::string& who) {
  if (path.empty()) return;
  std::error_code failed;
  const auto status = fs::status(path, failed);
  if (fs::exists(status) && !fs::is_regular_file(status)) return;
  const std::string folder = fs::path(path).parent_path().string();
  require_space(folder.empty() ? "." : folder, bytes, who);
}

}  // namespace eignn
