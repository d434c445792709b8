// Warnings of the library, which never prints: they are passed to a function of the caller.
#pragma once

#include <functional>
#include <string>

namespace eignn {

/// Receives one line without a newline.
using WarningHook = std::function<void(const std::string& message)>;

/// During its lifetime warnings of library calls made by this thread go to `hook`. Scopes nest: the innermost
/// one of the thread receives the warnings. Without a scope warnings are dropped.
///
///     eignn::WarningScope scope([](const std::string& message) { std::cerr << message << '\n'; });
class WarningScope {
 public:
  explicit WarningScope(WarningHook hook);
  ~WarningScope();
  WarningScope(const WarningScope&) = delete;
  WarningScope& operator=(const WarningScope&) = delete;

 private:
  WarningHook hook_;
  const WarningHook* before_;
};

/// The innermost hook of this thread, to be passed on to another thread that works for it; it must not
/// outlive its scope. Empty where there is none.
WarningHook warning_hook();

/// Passes a line to the innermost hook of this thread.
void warn(const std::string& message);

}  // namespace eignn
