#include "data/memory_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>

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

// Control groups, version 2: memory.max is a number of bytes, or "max".
uint64_t free_in_group() {
  uint64_t most = 0, used = 0;
  std::ifstream limit("/sys/fs/cgroup/memory.max"), current("/sys/fs/cgroup/memory.current");
  if (!(limit >> most) || !(current >> used)) return unknown;
  return most > used ? most - used : 0;
}

}  // namespace

uint64_t memory_limit() {
  const uint64_t free = std::min(free_on_machine(), free_in_group());
  return free == unknown ? unknown : free / 2;
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
