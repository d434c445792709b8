// What an explanation reads of a model whose states are equilibria: the parts of its scores, in evaluation.
//
//     h = encoder(x),   Z_k = γ g(F_k) Z_k S + H P for each F_k,   f = head(z, x) with z the rows of all Z_k
//     side by side
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "eignn/solver.h"

namespace eignn {

class EquilibriumModel {
 public:
  virtual ~EquilibriumModel() = default;

  /// A node's graph, and its row among the nodes of that graph.
  struct NodePlace {
    int64_t graph, row;
  };
  virtual NodePlace place_of(int64_t node) const = 0;
  /// The nodes of a graph, int64 on the CPU, in the order of its rows.
  virtual torch::Tensor nodes_of(int64_t graph) const = 0;
  virtual const Solver& solver_of(int64_t graph) const = 0;  // of its first direction
  /// X of a graph, (n, features).
  virtual torch::Tensor features_of(int64_t graph) const = 0;

  /// H for rows of X; differentiable. X itself where there is no encoder.
  virtual torch::Tensor encode(const torch::Tensor& X) const = 0;
  /// Whether H is affine in X.
  virtual bool encoder_is_affine() const = 0;

  virtual int64_t equilibria() const = 0;
  virtual torch::Tensor propagation_weight(int64_t k) const = 0;  // F_k
  /// Whether P_k = S: node j starts from Σ_i S_ij h_i.
  virtual bool starts_from_neighbours(int64_t k) const = 0;
  /// Z_k of a graph whose H is this.
  virtual std::shared_ptr<const Equilibrium> solved_for(int64_t graph, int64_t k, const torch::Tensor& H) = 0;
  /// ∂L/∂H = W P_kᵀ for the adjoint W of Z_k.
  virtual ScaledRows pull_source(int64_t graph, int64_t k, const ScaledRows& W) const = 0;

  /// f = z slope + constant, or f = z/‖z‖ slope + constant where `of_unit_rows`. Nothing for other heads.
  struct AffineHead {
    torch::Tensor slope, constant;  // (width of z, classes), (classes,)
    bool of_unit_rows;
  };
  virtual std::optional<AffineHead> affine_head() const = 0;
  /// The scores of nodes with these rows of z and x; differentiable.
  virtual torch::Tensor head(const torch::Tensor& z, const torch::Tensor& x) const = 0;
};

}  // namespace eignn
