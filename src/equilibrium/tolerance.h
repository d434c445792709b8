#pragma once

#include <fmt/format.h>

#include <limits>
#include <string>

#include "eignn/error.h"
#include "eignn/solver.h"

namespace eignn {

inline double unit_roundoff(torch::Dtype dtype) {
  return dtype == torch::kFloat32 ? std::numeric_limits<float>::epsilon() / 2
                                  : std::numeric_limits<double>::epsilon() / 2;
}

/// Iterative solvers stop at ‖residual‖ ≤ backward_tolerance · (‖X‖ + ‖Z‖).
inline double backward_tolerance(const SolverOptions& options) {
  return options.tolerance > 0 ? options.tolerance : 10 * unit_roundoff(options.dtype);
}

/// The error for iterations that ran out: "sparse did not converge in 50 products (γ …, tolerance …);
/// remedy".
inline ConvergenceError did_not_converge(const std::string& solver, int64_t count, const char* unit,
                                         const SolverOptions& options, const std::string& remedy) {
  return {fmt::format("{} did not converge in {} {}", solver, count, unit),
          fmt::format("γ {}, tolerance {:.1e}", options.gamma, backward_tolerance(options)), remedy};
}

/// The error for values that overflowed during a solve.
inline ConvergenceError not_finite(const std::string& solver) {
  return {"a value is not finite", solver, "check the features and weights for overflow"};
}

}  // namespace eignn
