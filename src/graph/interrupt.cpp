#include "eignn/interrupt.h"

#include <utility>

#include "eignn/error.h"

namespace eignn {

namespace {
thread_local const InterruptHook* asked = nullptr;
}  // namespace

InterruptScope::InterruptScope(InterruptHook hook) : hook_(std::move(hook)), before_(asked) {
  asked = &hook_;
}

InterruptScope::~InterruptScope() {
  asked = before_;
}

void check_interrupt() {
  if (asked != nullptr && *asked && (*asked)()) throw InterruptedError("");
}

}  // namespace eignn
