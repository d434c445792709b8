// Equilibria of several runs on one symmetric S: each run has an F of its own, all share S and X.
//
// (I - γλ g)⁻¹ is a Chebyshev series in g whose number of terms follows from γ and the precision alone
// (equilibrium/chebyshev.h). All shapes are therefore fixed, and a GPU can replay a solve as one CUDA graph.
// The series multiplies the thin factor of the problem, and no n×m system is ever solved:
//
//     f = Z Bᵀ     f = Q Σ_p α_p(Λ) X̂ (B T_p)ᵀ      a chain of classes×m from B
//     Z            Z = Σ_p α_p(S) U (E T_p)           a chain of k×m from X = U E
//
// U has the k columns of X that are not zero, and E the corresponding rows of I. krylov solves for f by the
// same series, for one F. A step costs FᵀF, the chain forwards and backwards, and ∇F.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>

#include "eignn/solver.h"
#include "equilibrium/chebyshev.h"
#include "equilibrium/range_of_s.h"

namespace eignn {

/// S, X and the coefficients of the series, which all runs share.
struct SharedSeries {
  /// ArgumentError unless S is symmetric and the series ends (series_ends()).
  SharedSeries(const Propagation& S, const torch::Tensor& X, const SolverOptions& options);

  /// The same for other features (n, m); S is not decomposed again.
  SharedSeries with_features(const torch::Tensor& features) const;

  int64_t terms() const { return alpha.size(1); }
  /// The columns of X that are not zero everywhere, (k,).
  torch::Tensor live_features() const;

  torch::TensorOptions type;
  double epsilon;
  std::shared_ptr<const RangeOfS> range;
  torch::Tensor X;      // (n, m)
  torch::Tensor alpha;  // α_p(λ_j), (r, terms)
};

/// Whether γ < 1 and the series for this γ and precision has at most 200 terms.
bool series_ends(const SolverOptions& options);

/// BatchedEquilibria refuses an X with more non-zero columns: a chain of that many rows is not thin any more.
constexpr int64_t most_live_features = 64;

/// g of each run and P_p = P_0 T_p(2g - I), at addresses that do not change between calls (see put()).
class BatchedChain {
 public:
  BatchedChain(const SharedSeries& shared, int64_t runs, int64_t rows);

  /// F is (runs, m, m), P_0 (runs, rows, m). Where ‖FᵀF‖ overflows, the result is NaN.
  void run(const torch::Tensor& F, const torch::Tensor& P0);
  /// (terms, runs, rows, m)
  const torch::Tensor& P() const { return chain_.P; }

  struct Gradients {
    torch::Tensor F, P0;
  };
  /// The gradients for ∂L/∂P, which may be overwritten, and the F of the last run().
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
  /// Allocates for another number of runs; solve() must follow.
  void resize(int64_t runs);

  /// (n, runs, columns) for F (runs, m, m) and B (runs, columns, m).
  torch::Tensor solve(const torch::Tensor& F, const torch::Tensor& B);

  struct Gradients {
    torch::Tensor F, B;
  };
  /// The gradients for ∂L/∂f; F and B must be those of the last solve().
  Gradients pull(const torch::Tensor& F, const torch::Tensor& B, const torch::Tensor& cotangent) const;

 private:
  std::shared_ptr<const SharedSeries> shared_;
  int64_t columns_;
  torch::Tensor X_hat_,
      X_rest_;  // QᵀX, and X outside the range of S (undefined: S has full rank)
  BatchedChain chain_;
};

/// Z of each run, for an X of few features.
class BatchedEquilibria {
 public:
  /// ArgumentError when X has no live feature or too many.
  BatchedEquilibria(std::shared_ptr<const SharedSeries> shared, int64_t runs);
  /// Allocates for another number of runs; solve() must follow.
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

/// Copies `value` into `slot` in place where the shapes agree, because a captured CUDA graph reads and writes
/// fixed addresses.
void put(torch::Tensor& slot, const torch::Tensor& value);

}  // namespace eignn
