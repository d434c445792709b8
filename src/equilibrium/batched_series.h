// Equilibria of several runs on one symmetric S: each run has an F of its own, all share S and X.
//
// (I - γλ g)⁻¹ is a Chebyshev series in g whose number of terms follows from γ and the precision alone
// (equilibrium/chebyshev.h), so that a solve is arithmetic of fixed shapes, which a GPU can replay as one
// CUDA graph. The series starts at the thin side of the problem, and no n×m system is ever solved:
//
//     f = Z Bᵀ     f = Q Σ_p α_p(Λ) X̂ (B T_p)ᵀ      a chain of classes×m from B
//     Z            Z = Σ_p α_p(S) U (E T_p)           a chain of k×m from X = U E, E the k features that
//     occur
//
// krylov solves for f by the same series, for one F. What a step costs is FᵀF, the chain forwards and
// backwards, and ∇F.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>

#include "eignn/solver.h"
#include "equilibrium/chebyshev.h"
#include "equilibrium/range_of_s.h"

namespace eignn {

/// What the runs share.
struct SharedSeries {
  /// ArgumentError unless S is symmetric and the series ends (series_ends()).
  SharedSeries(const Propagation& S, const torch::Tensor& X, const SolverOptions& options);

  int64_t terms() const { return alpha.size(1); }
  /// The columns of X that are not zero everywhere, (k,).
  torch::Tensor live_features() const;

  torch::TensorOptions type;
  double epsilon;
  RangeOfS range;
  torch::Tensor X;      // (n, m)
  torch::Tensor alpha;  // α_p(λ_j), (r, terms)
};

/// Whether a series for this γ and precision is short enough to be of use.
bool series_ends(const SolverOptions& options);

/// A chain of more rows is not thin any more, and BatchedEquilibria refuses an X with more live features.
constexpr int64_t most_live_features = 64;

/// g of each run and P_p = P_0 T_p(2g - I), in memory that stays where it is.
class BatchedChain {
 public:
  BatchedChain(const SharedSeries& shared, int64_t runs, int64_t rows);

  /// F is (runs, m, m), P_0 (runs, rows, m). Where FᵀF overflows, all that follows is NaN.
  void run(const torch::Tensor& F, const torch::Tensor& P0);
  /// (terms, runs, rows, m)
  const torch::Tensor& P() const { return chain_.P; }

  struct Gradients {
    torch::Tensor F, P0;
  };
  /// For ∂L/∂P, whose memory it uses up, and the F of the last run().
  Gradients pull(const torch::Tensor& F, torch::Tensor P_bar) const;

 private:
  double epsilon_;
  ChebyshevChain chain_;
  torch::Tensor gram_, nu_, twice_argument_;  // FᵀF, its norm (runs, 1, 1), and 2(2g - I)
};

/// f = Z Bᵀ of each run.
class BatchedProjections {
 public:
  BatchedProjections(std::shared_ptr<const SharedSeries> shared, int64_t runs, int64_t columns);
  /// Makes room for another number of runs; solve() must follow.
  void resize(int64_t runs);

  /// (n, runs, columns) for F (runs, m, m) and B (runs, columns, m).
  torch::Tensor solve(const torch::Tensor& F, const torch::Tensor& B);

  struct Gradients {
    torch::Tensor F, B;
  };
  /// For ∂L/∂f and the weights of the last solve().
  Gradients pull(const torch::Tensor& F, const torch::Tensor& B, const torch::Tensor& cotangent) const;

 private:
  std::shared_ptr<const SharedSeries> shared_;
  int64_t columns_;
  torch::Tensor X_hat_, X_rest_;  // QᵀX, and what of X lies outside the range of S; undefined: nothing
  BatchedChain chain_;
};

/// Z of each run, for an X of few features.
class BatchedEquilibria {
 public:
  /// ArgumentError when X has no live feature or too many.
  BatchedEquilibria(std::shared_ptr<const SharedSeries> shared, int64_t runs);
  /// Makes room for another number of runs; solve() must follow.
  void resize(int64_t runs);

  /// (runs, n, m)
  torch::Tensor solve(const torch::Tensor& F);
  /// ∂L/∂F for ∂L/∂Z and the F of the last solve().
  torch::Tensor pull(const torch::Tensor& F, const torch::Tensor& Z_bar) const;

 private:
  std::shared_ptr<const SharedSeries> shared_;
  torch::Tensor E_;  // (k, m)
  torch::Tensor N_;  // α_p(S) U side by side, (n, terms·k)
  BatchedChain chain_;
};

/// Copies a value into the memory of a slot that has its shape: a captured CUDA graph reads and writes the
/// same memory every time.
void put(torch::Tensor& slot, const torch::Tensor& value);

}  // namespace eignn
