#pragma once

#include <limits>

#include "eignn/solver.h"

namespace eignn {

inline double unit_roundoff(torch::Dtype dtype) {
  return dtype == torch::kFloat32 ? std::numeric_limits<float>::epsilon() / 2
                                  : std::numeric_limits<double>::epsilon() / 2;
}

/// ‖residual‖ ≤ this · (‖X‖ + ‖Z‖) is where iterative solvers stop.
inline double backward_tolerance(const SolverOptions& options) {
  return options.tolerance > 0 ? options.tolerance : 10 * unit_roundoff(options.dtype);
}

}  // namespace eignn
