// What the solver truncated keeps of S, for those who tell what it leaves out.
#pragma once

#include <torch/types.h>

#include "eignn/solver.h"
#include "equilibrium/range_of_s.h"

namespace eignn {

/// The eigenpairs of S of largest magnitude, as many as the options say, in their type and on their device.
struct LeadingSpectrum {
  LeadingSpectrum(const Propagation& S, const SolverOptions& options);
  LeadingSpectrum(RangeOfS range_of_k, torch::Tensor one_minus, double left)
      : range(std::move(range_of_k)), one_minus_lambda(std::move(one_minus)), next(left) {}

  RangeOfS range;                  // Q_k
  torch::Tensor one_minus_lambda;  // (k,)
  double next;                     // |λ_{k+1}|
};

/// The largest b/(1 - b) that any F can have: b = γ |λ_{k+1}|, since μ₁ < 1.
double worst_gain_of_rest(const LeadingSpectrum& spectrum, double gamma);

}  // namespace eignn
