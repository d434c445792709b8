#include "eignn/warning.h"

#include <utility>

namespace eignn {

namespace {
thread_local const WarningHook* listener = nullptr;
}  // namespace

WarningScope::WarningScope(WarningHook hook) : hook_(std::move(hook)), before_(listener) {
  listener = &hook_;
}

WarningScope::~WarningScope() {
  listener = before_;
}

WarningHook warning_hook() {
  return listener != nullptr ? *listener : WarningHook();
}

void warn(const std::string& message) {
  if (listener != nullptr && *listener) (*listener)(message);
}

}  // namespace eignn
