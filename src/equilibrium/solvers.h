// The solvers by name; each file opens with its equation and its cost.
#pragma once

#include "eignn/solver.h"
#include "equilibrium/node_operator.h"

namespace eignn {

/// Ẑ = (G ∘ (X̂ Q_F)) Q_Fᵀ with G_ji = 1/(1 - γ μ_i λ_j): the paper's closed form, per connected component.
std::unique_ptr<Solver> make_spectral(std::shared_ptr<const Propagation> S, const SolverOptions& options);

/// The k eigenpairs of S of largest magnitude in the place of all: an approximation with a bound.
std::unique_ptr<Solver> make_truncated(std::shared_ptr<const Propagation> S, const SolverOptions& options);

/// The published dense algorithm, for comparison in benchmarks: one n×n eigendecomposition, every product in
/// node space.
std::unique_ptr<Solver> make_published(std::shared_ptr<const Propagation> S, const SolverOptions& options);

/// Conjugate gradients on (I - γ λ_j g) ẑ_j = x̂_j for all j at once; no eigendecomposition of g.
std::unique_ptr<Solver> make_krylov(std::shared_ptr<const Propagation> S, const SolverOptions& options);

// The solvers in node space use S only through the products of a NodeOperator: `product`, or, where it is
// null, a SparseProduct made from `S`.

/// The recurrence with g's large eigenvalues solved separately; any S, no eigendecomposition.
std::unique_ptr<Solver> make_deflated(std::shared_ptr<const Propagation> S, const SolverOptions& options,
                                      std::shared_ptr<const NodeOperator> product = nullptr);

/// Z ← γ Sᵀ Z g + X until the residual bound holds; any S.
std::unique_ptr<Solver> make_picard(std::shared_ptr<const Propagation> S, const SolverOptions& options,
                                    std::shared_ptr<const NodeOperator> product = nullptr);

/// Semi-iterations on (I - γ μ_i Sᵀ) z̃_i = x̃_i for all i at once, in O(n m) memory; any S.
std::unique_ptr<Solver> make_sparse(std::shared_ptr<const Propagation> S, const SolverOptions& options,
                                    std::shared_ptr<const NodeOperator> product = nullptr);

/// Sparse elimination for each of the `features` eigenvalues of g; any S. Where S has slack every entry keeps
/// its relative accuracy at any distance.
std::unique_ptr<Solver> make_direct(std::shared_ptr<const Propagation> S, const SolverOptions& options,
                                    int64_t features);

}  // namespace eignn
