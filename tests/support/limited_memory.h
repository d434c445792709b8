// A limit on the memory of this process, to see what an exhausted machine does.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>

#if defined(__SANITIZE_ADDRESS__)
#define EIGNN_TEST_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EIGNN_TEST_HAS_ASAN 1
#endif
#endif

namespace eignn::test {

/// AddressSanitizer reserves terabytes of addresses, and ends the program at an allocation that fails.
#ifdef EIGNN_TEST_HAS_ASAN
constexpr bool can_limit_memory = false;
#else
constexpr bool can_limit_memory = true;
#endif

/// While it exists the process can take `bytes` of address space beyond what it has.
class LimitedMemory {
 public:
  explicit LimitedMemory(uint64_t bytes) {
    uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    getrlimit(RLIMIT_AS, &before_);
    struct rlimit limit = before_;
    limit.rlim_cur = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) + bytes;
    setrlimit(RLIMIT_AS, &limit);
  }
  ~LimitedMemory() { setrlimit(RLIMIT_AS, &before_); }
  LimitedMemory(const LimitedMemory&) = delete;
  LimitedMemory& operator=(const LimitedMemory&) = delete;

 private:
  struct rlimit before_ = {};
};

}  // namespace eignn::test
