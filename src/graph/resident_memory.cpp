#include "graph/resident_memory.h"

#include <unistd.h>

#include <fstream>

namespace eignn {

// /proc/self/statm: pages of address space, then pages in memory.
uint64_t resident_memory() {
  uint64_t addresses = 0, resident = 0;
  std::ifstream file("/proc/self/statm");
  if (!(file >> addresses >> resident)) return 0;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace eignn
