#include "fuzz_target.h"

#include <cstddef>
#include <cstdint>

#include "eignn/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    eignn::fuzz({reinterpret_cast<const char*>(data), size});
  } catch (const eignn::Error&) {
  }
  return 0;
}
