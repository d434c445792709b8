#include "train/provenance.h"

#include <sys/resource.h>

namespace eignn {

const char* version() {
  return EIGNN_VERSION;
}

long long peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<long long>(usage.ru_maxrss) * 1024;  // Linux counts in KiB
}

}  // namespace eignn
