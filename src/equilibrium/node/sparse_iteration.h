// Semi-iterations on (I - a Sᵀ) z̃ = x̃ for many columns at once; sparse_iteration.cpp has the equations and
// the cost.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "eignn/solver.h"
#include "equilibrium/contraction.h"
#include "equilibrium/node_operator.h"

namespace eignn {

/// Buffers of a block of columns. They are reused, since page faults in fresh memory cost as much as a
/// product.
struct IterationBuffers {
  torch::Tensor X, other;
};

/// The iteration for one g = Q diag(μ) Qᵀ, in the eigenbasis of g.
class SparseIteration {
 public:
  SparseIteration(std::shared_ptr<const NodeOperator> S, std::shared_ptr<IterationBuffers> buffers,
                  const DecomposedContraction& g, const SolverOptions& options);

  /// Q (m, m'), padded to whole cache lines by zero columns with μ = 0, which come first.
  const torch::Tensor& Q() const { return Q_; }

  const SolverOptions& options() const { return options_; }

  /// Writes X Q_columns to `to`.
  using Rotate = std::function<void(const torch::Tensor& Q_columns, torch::Tensor& to)>;

  /// Z̃ (n, m') for X̃ = X Q, solved a block of columns at a time; the adjoint has S in place of Sᵀ. x_norm is
  /// ‖X‖, and `count` becomes the number of products for the slowest column. ConvergenceError where the
  /// residual stays above the tolerance.
  torch::Tensor solve(double x_norm, bool adjoint, int64_t& count, const Rotate& rotate) const;

  /// W̃ᵀ (Sᵀ Z̃), (m', m').
  torch::Tensor adjoint_product(const torch::Tensor& W, const torch::Tensor& Z) const;

 private:
  template <class Work>
  void for_each_block(int64_t columns, const Work& work) const;
  torch::Tensor solve_columns(
      const NodeOperator& S, ColumnShares::Range range, double x_norm, bool adjoint, int64_t& count,
      const std::function<void(int64_t first, int64_t columns, torch::Tensor& to)>& fill) const;
  int64_t iterate(const NodeOperator& S, const torch::Tensor& X, const torch::Tensor& a, double x_norm,
                  bool adjoint, torch::Tensor& Z) const;
  bool is_small(const NodeOperator::Squares& squares, int64_t column, double x2, double x_norm) const;
  int64_t solve_slow(const NodeOperator& S, const torch::Tensor& X, const torch::Tensor& a, int64_t slow,
                     torch::Tensor& Z) const;
  [[noreturn]] void give_up(int64_t products) const;

  std::shared_ptr<const NodeOperator> S_;
  std::shared_ptr<IterationBuffers> buffers_;
  SolverOptions options_;
  int64_t line_;         // columns in a cache line
  torch::Tensor Q_, a_;  // (m, m'), (m')
};

}  // namespace eignn
