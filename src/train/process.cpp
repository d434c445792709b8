#include "eignn/process.h"

#include <limits>

// __GLIBC__ is defined by the first header of the C library, so this comes after <limits>.
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace eignn {

bool keep_freed_memory() {
#ifdef __GLIBC__
  return mallopt(M_MMAP_THRESHOLD, 1 << 30) == 1 &&
         mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max()) == 1;
#else
  return false;
#endif
}

}  // namespace eignn
