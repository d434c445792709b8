// Translates libtorch's exceptions into ours.
#pragma once

#include <c10/util/Exception.h>

#include <new>
#include <stdexcept>
#include <string>

#include "eignn/error.h"

namespace eignn {

/// Runs work() and turns exceptions of libtorch and of the standard library's memory into ResourceError; our
/// own pass through. Every public function runs under it. What the caller gave is checked inside, so that
/// only memory and devices are left to fail.
template <class Work>
auto with_our_errors(const std::string& where, Work work) {
  constexpr const char* less = "use fewer features, narrower layers or a part of the graph";
  try {
    return work();
  } catch (const c10::Error& error) {
    const std::string all = error.what_without_backtrace(), line = all.substr(0, all.find('\n'));
    const auto says = [&](const char* words) { return all.find(words) != std::string::npos; };
    const bool memory = says("allocate") || says("out of memory") || says("overflow");
    throw ResourceError(memory ? "there is not enough memory: " + line : line, where,
                        memory ? less : "check the device");
  } catch (const std::bad_alloc&) {
    throw ResourceError("there is not enough memory", where, less);
  } catch (const std::length_error&) {  // a vector or a text longer than any memory
    throw ResourceError("there is not enough memory", where, less);
  }
}

}  // namespace eignn
