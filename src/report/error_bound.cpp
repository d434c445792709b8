#include "report/error_bound.h"

#include <fmt/format.h>

#include <cmath>

namespace eignn {

std::string in_words(const ErrorBound& b) {
  const std::string kept =
      fmt::format("truncated to {} eigenpair{} of S: ", b.eigenpairs, b.eigenpairs == 1 ? "" : "s");
  if (b.next_eigenvalue == 0) return kept + "all there are, so that Z is exact";
  return kept + fmt::format("|λ| of the next is {:.3g}, and ‖Z - Z exact‖ is at most {:.3g}, {:.3g} % of ‖Z‖",
                            b.next_eigenvalue, b.bound, 100 * b.relative());
}

}  // namespace eignn
