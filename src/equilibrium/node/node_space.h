// Base of the solvers that keep Z in node space: the residual and the gradient, by products with S and g.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "eignn/error.h"
#include "equilibrium/contraction.h"
#include "equilibrium/node_operator.h"
#include "equilibrium/tolerance.h"

namespace eignn {

class NodeSpaceEquilibrium : public Equilibrium {
 public:
  ScaledRows do_rows(const torch::Tensor& index) const override {
    require_unchanged_Z();
    if (index.defined()) return {Z_.index_select(0, index), {}};
    version_given_ = Z_._version();
    return {Z_, {}};
  }

  Gradients do_pull(const torch::Tensor& index, const ScaledRows& Y, bool want_X) const override {
    require_unchanged_Z();
    Gradients out;
    const auto W = solve_adjoint(index, Y.plain(), out.iterations);
    out.F = contraction_.pullback(S_->sum(W.t().mm(S_->apply_transposed(Z_))));
    if (want_X) out.X.values = W;
    return out;
  }

 protected:
  torch::Tensor sum_over_nodes(torch::Tensor of_nodes_here) const override {
    return S_->sum(std::move(of_nodes_here));
  }
  int64_t all_nodes(int64_t) const override { return S_->rows(); }

  /// With CheckNu::when_read the caller must call contraction_.nu(), which checks that ν is finite.
  NodeSpaceEquilibrium(std::string name, std::shared_ptr<const NodeOperator> S, const torch::Tensor& F,
                       const SolverOptions& options, Contraction::CheckNu check = Contraction::CheckNu::now)
      : name_(std::move(name)),
        S_(std::move(S)),
        options_(options),
        contraction_(F, options.gamma, options.epsilon, check),
        scale_(options.gamma * contraction_.scale()) {}

  /// W = γ S W g + Y, where Y has rows at the nodes of `index` and is 0 elsewhere. `count` becomes the number
  /// of iterations.
  virtual torch::Tensor solve_adjoint(const torch::Tensor& index, const torch::Tensor& Y,
                                      int64_t& count) const = 0;

  const torch::Tensor& gram() const { return contraction_.gram(); }

  /// A matrix over all nodes with these rows added at `index` and 0 elsewhere.
  torch::Tensor at_all_nodes(const torch::Tensor& index, const torch::Tensor& rows) const {
    if (!index.defined()) return rows;
    return torch::zeros({Z_.size(0), rows.size(1)}, rows.options()).index_add_(0, index, rows);
  }

  torch::Tensor propagate(const torch::Tensor& Z, bool adjoint) const { return S_->propagate(Z, adjoint); }

  torch::Tensor residual(const torch::Tensor& X, const torch::Tensor& Z, bool adjoint) const {
    return propagate(Z, adjoint).mm(gram()).mul_(scale_).add_(X).sub_(Z);
  }

  [[noreturn]] void give_up(int64_t count) const {
    throw did_not_converge(name_, std::min(count, options_.max_iterations), "iterations", options_,
                           "use solver auto, or a smaller γ");
  }

  void refuse_infinite(double norm) const {
    if (!std::isfinite(norm)) throw not_finite(name_);
  }

  // do_rows() returns Z_ itself without a copy, so a caller may have written to it.
  void require_unchanged_Z() const {
    if (version_given_ && *version_given_ != Z_._version())
      throw ArgumentError("Z", "what rows() returned was written to", "solve again, and write to a copy");
  }

  std::string name_;
  std::shared_ptr<const NodeOperator> S_;
  SolverOptions options_;
  Contraction contraction_;
  torch::Tensor scale_;  // γ/(ν+ε)
  torch::Tensor Z_;
  mutable std::optional<int64_t> version_given_;
};

}  // namespace eignn
