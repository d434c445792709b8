// Warnings of the library: it never prints, it hands them to whoever listens.
#pragma once

#include <functional>
#include <string>

namespace eignn {

/// Takes one line without a newline.
using WarningHook = std::function<void(const std::string& message)>;

/// While this lives, warnings of library calls made by this thread go to `hook`; scopes nest, the innermost
/// listens. Without one, warnings are dropped.
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

/// Hands a line to the innermost listener of this thread.
void warn(const std::string& message);

}  // namespace eignn
