// A way to end a long computation of the library from outside.
#pragma once

#include <functional>

namespace eignn {

/// Says whether to stop. Called often, so it should be cheap.
using InterruptHook = std::function<bool()>;

/// During its lifetime the iterations of the solvers that this thread runs ask `hook` between two steps, and
/// end with an InterruptedError when it says yes. Scopes nest: the innermost one of the thread is asked. What
/// was solved before stays usable. A single call of LAPACK, such as an eigendecomposition of S, is not ended.
///
///     eignn::InterruptScope scope([&] { return stop_requested; });
class InterruptScope {
 public:
  explicit InterruptScope(InterruptHook hook);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  InterruptHook hook_;
  const InterruptHook* before_;
};

/// Throws InterruptedError if the innermost hook of this thread says so.
void check_interrupt();

}  // namespace eignn
