// The state of an implicit layer: Z = ReLU(W Z S + B), as IGNN has it (models/ignn.cpp).
#pragma once

#include <atomic>
#include <memory>

#include "models/propagate.h"

namespace eignn {

struct PicardOptions {
  double tolerance = 3e-6;       // an iteration that changes no entry by more is the last
  int64_t max_iterations = 300;  // of a solve
};

/// Counts over all solves, forward and backward.
struct PicardCounts {
  std::atomic<int64_t> solves{0}, iterations{0};
  std::atomic<int64_t> non_converged{0};  // ended by max_iterations, or by a value that is not finite
};

/// Node-major, Z = ReLU(Sᵀ Z Wᵀ + B) by Picard iteration from 0, differentiable in W (h, h) and B (n, h). The
/// gradient comes from the adjoint equation, solved by the same iteration.
torch::Tensor implicit_state(const SharedProduct& S, const torch::Tensor& W, const torch::Tensor& B,
                             const PicardOptions& options, const std::shared_ptr<PicardCounts>& counts);

/// The projection of W onto the ball ‖W‖∞ ≤ radius, that is, Σ|w| ≤ radius in every row.
torch::Tensor project_rows(const torch::Tensor& W, double radius);

/// ρ(S), the largest eigenvalue of a matrix without negative entries, by power iteration on S + I, whose
/// largest eigenvalue is the only one of its modulus.
double spectral_radius(const Propagation& S);

}  // namespace eignn
