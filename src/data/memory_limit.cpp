#include "data/memory_limit.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "eignn/error.h"

namespace eignn {

namespace {

constexpr uint64_t unknown = std::numeric_limits<uint64_t>::max();

// /proc/meminfo: "MemAvailable:   20412345 kB".
uint64_t free_on_machine() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  while (file >> word)
    if (uint64_t kilobytes = 0; word == "MemAvailable:" && file >> kilobytes) return kilobytes << 10U;
  return unknown;
}

// ulimit -v. /proc/self/statm begins with the pages of address space that are taken.
uint64_t free_in_address_space() {
  struct rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unknown;
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const uint64_t taken = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur > taken ? limit.rlim_cur - taken : 0;
}

// The names of a group's files. Those of version 1 count what its subgroups take too.
struct GroupFiles {
  const char *most, *used, *inactive, *active;
};
constexpr GroupFiles second_version = {"memory.max", "memory.current", "inactive_file", "active_file"};
constexpr GroupFiles first_version = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file",
                                      "total_active_file"};

uint64_t free_in_group(const std::string& folder, const GroupFiles& files) {
  uint64_t most = 0, used = 0, dropped = 0, value = 0;
  std::ifstream limit(folder + "/" + files.most), current(folder + "/" + files.used);
  if (!(limit >> most) || !(current >> used)) return unknown;  // "max" is no number
  std::ifstream parts(folder + "/memory.stat");
  for (std::string name; parts >> name >> value;)
    if (name == files.inactive || name == files.active) dropped += value;
  used -= std::min(used, dropped);
  return most > used ? most - used : 0;
}

// "/a/b", "/a", "": a container may see its own group as the root, and then has no folder of the long name.
uint64_t free_upwards(const std::string& root, std::string group, const GroupFiles& files) {
  uint64_t least = free_in_group(root, files);
  for (; group.size() > 1; group.resize(group.rfind('/')))
    least = std::min(least, free_in_group(root + group, files));
  return least;
}

}  // namespace

// A line for each hierarchy, "4:memory:/group"; that of version 2 is "0::/group".
uint64_t free_in_groups(const std::string& groups, const std::string& root) {
  uint64_t least = unknown;
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string kinds = "," + line.substr(first + 1, second - first - 1) + ",",
                      group = line.substr(second + 1);
    if (group.empty() || group[0] != '/') continue;
    if (kinds == ",,")
      least = std::min(least, free_upwards(root, group, second_version));
    else if (kinds.find(",memory,") != std::string::npos)
      least = std::min(least, free_upwards(root + "/memory", group, first_version));
  }
  return least;
}

uint64_t memory_limit() {
  std::ostringstream groups;
  groups << std::ifstream("/proc/self/cgroup").rdbuf();
  const uint64_t free =
      std::min({free_on_machine(), free_in_address_space(), free_in_groups(groups.str(), "/sys/fs/cgroup")});
  return free == unknown ? unknown : free / 2;
}

uint64_t bytes_of(const std::string& text) {
  constexpr std::string_view units = "KMG";
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const size_t unit = stop + 1 == end ? units.find(*stop) : std::string_view::npos;
  const double bytes =
      unit == std::string_view::npos ? number : std::ldexp(number, 10 * (static_cast<int>(unit) + 1));
  constexpr double most = 1e18;
  if (error != std::errc() || (stop != end && unit == std::string_view::npos) ||
      !(bytes >= 1 && bytes <= most)) {
    throw ArgumentError("memory", fmt::format("'{}' is no amount of memory", text),
                        "give one such as 500M or 8G");
  }
  return static_cast<uint64_t>(bytes);
}

std::string bytes_in_words(uint64_t bytes) {
  const auto number = static_cast<double>(bytes);
  for (const auto& [unit, bits] : {std::pair{'G', 30}, {'M', 20}, {'K', 10}})
    if (number >= std::ldexp(1.0, bits)) return fmt::format("{:.3g}{}", std::ldexp(number, -bits), unit);
  return fmt::format("{} bytes", bytes);
}

void require_memory(uint64_t bytes, const std::string& origin) {
  const uint64_t limit = memory_limit();
  if (bytes <= limit) return;
  constexpr double gigabyte = 1e9;
  throw ResourceError(
      fmt::format("it holds {:.1f} GB, and {:.1f} GB of memory may be taken for one input",
                  static_cast<double>(bytes) / gigabyte, static_cast<double>(limit) / gigabyte),
      origin, "check that it is the right file, or use a machine with more memory");
}

}  // namespace eignn
