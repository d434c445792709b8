// Translates libtorch's exceptions into ours.
#pragma once

#include <c10/util/Exception.h>

#include <new>
#include <string>

#include "eignn/error.h"

namespace eignn {

/// Runs work() and turns exceptions of libtorch and of the allocator into ResourceError. The arguments must
/// have been checked before, so that only memory and devices can fail.
template <class Work>
auto with_our_errors(const std::string& where, Work work) {
  try {
    return work();
  } catch (const c10::Error& error) {
    const std::string all = error.what_without_backtrace(), line = all.substr(0, all.find('\n'));
    const bool memory =
        all.find("allocate") != std::string::npos || all.find("out of memory") != std::string::npos;
    throw ResourceError(memory ? "there is not enough memory: " + line : line, where,
                        memory ? "take fewer features or a part of the graph" : "check the device");
  } catch (const std::bad_alloc&) {
    throw ResourceError("there is not enough memory", where, "take fewer features or a part of the graph");
  }
}

}  // namespace eignn
