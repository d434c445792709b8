// The equilibrium Z = γ g(F) Z S + X, solved. The one interface through which models know the solvers.
//
// Node-major, as everywhere at the public face: X and Z have a row per node, and the equation reads
// Z = γ Sᵀ Z g + X with g = FᵀF / (‖FᵀF‖_F + ε).
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "eignn/propagation.h"

namespace eignn {

/// The true row j is values[j] · 2^exponents[j]. `exponents` is undefined when all are zero, as they are
/// unless a signal left the floating range. Whatever does not depend on the scale of a row (a normalised
/// embedding) may use `values` alone.
struct ScaledRows {
  torch::Tensor values;     // (rows, m)
  torch::Tensor exponents;  // int64 (rows,) or undefined

  /// The rows in the ordinary range: what underflows is 0, what overflows is infinite. ArgumentError unless
  /// there is one exponent per row.
  torch::Tensor plain() const;
};

/// What a solve tells of itself.
struct SolveStatus {
  std::string solver;
  double residual = 0;     // ‖Z - γ g Z S - X‖_F / ‖X‖_F, from the returned Z
  int64_t iterations = 0;  // 0 for closed forms
  double seconds = 0;
};

struct Gradients {
  torch::Tensor F;  // ∂L/∂F (m, m)
  ScaledRows X;     // ∂L/∂X = W (n, m); only when asked for
  int64_t iterations = 0;
};

/// Of each feature of Z over all nodes: what batch normalisation needs to know.
struct Moments {
  torch::Tensor mean, variance;  // (m,); the variance divides by n

  bool defined() const { return mean.defined(); }
};

/// Of f = Z C.
struct ProjectedGradients {
  torch::Tensor F, C;
};

class Solver;

namespace detail {
struct Door;    // what the solvers' public functions check against, and the lock they hold
struct Inputs;  // the F and X that something was solved for
}  // namespace detail

/// A solved equilibrium. Holds what its adjoint needs, also after its solver is gone.
///
/// Every public function checks its arguments (ArgumentError: shapes, types, devices, indices out of range)
/// and refuses to work where F or X was written to after the solve (ArgumentError: F, X). An undefined index
/// stands for all nodes. Nothing here records for autograd; equilibrium() below does.
///
/// A solver and all that it solved share one lock, which each public function holds: they may be used from
/// any number of threads, one at a time. Without nodes or without features the answers are empty tensors of
/// the right shape; only the moments of no nodes are refused.
class Equilibrium {
 public:
  virtual ~Equilibrium() = default;

  /// Z at the given nodes (int64 index), or at all nodes when the index is undefined. Not to be written to.
  ScaledRows rows(const torch::Tensor& index = {}) const;

  /// Z C at these nodes: scores without the Z they come from, where a solver can do without.
  torch::Tensor project(const torch::Tensor& index, const torch::Tensor& C) const;

  Moments moments() const;

  /// Given Y = ∂L/∂Z at these nodes (0 elsewhere), solves W = γ g W Sᵀ + Y and returns the gradients.
  Gradients pull(const torch::Tensor& index, const ScaledRows& Y, bool want_X) const;

  /// W at all nodes, for one who has no use for the gradient in F.
  ScaledRows pull_X(const torch::Tensor& index, const ScaledRows& Y) const;

  /// The same as pull() for an L that depends on the moments too, with these derivatives.
  Gradients pull_with_moments(const torch::Tensor& index, const ScaledRows& Y, const Moments& moments,
                              bool want_X) const;

  /// Given ∂L/∂(Z C) at these nodes (0 elsewhere).
  ProjectedGradients pull_projected(const torch::Tensor& index, const torch::Tensor& cotangent,
                                    const torch::Tensor& C) const;

  // Of what was done so far: a solver may leave Z at all nodes until somebody asks for it.
  int64_t iterations() const;
  double seconds() const;

  /// Whether it is `solver`'s answer for this F and this X, neither of them written to since.
  bool is_of(const Solver& solver, const torch::Tensor& F, const torch::Tensor& X) const;

 protected:
  // The solver's own half: arguments are checked, contiguous where kernels need it, and the lock is held.
  virtual ScaledRows do_rows(const torch::Tensor& index) const = 0;
  virtual torch::Tensor do_project(const torch::Tensor& index, const torch::Tensor& C) const;
  virtual Moments do_moments() const;
  virtual Gradients do_pull(const torch::Tensor& index, const ScaledRows& Y, bool want_X) const = 0;
  virtual ScaledRows do_pull_X(const torch::Tensor& index, const ScaledRows& Y) const;
  virtual Gradients do_pull_with_moments(const torch::Tensor& index, const ScaledRows& Y,
                                         const Moments& moments, bool want_X) const;
  virtual ProjectedGradients do_pull_projected(const torch::Tensor& index, const torch::Tensor& cotangent,
                                               const torch::Tensor& C) const;

  mutable int64_t iterations_ = 0;
  mutable double seconds_ = 0;

 private:
  friend class Solver;
  template <class Work>
  auto checked(Work work) const;                  // work(inputs) behind the lock
  std::shared_ptr<const detail::Inputs> inputs_;  // set by Solver::solve
};

/// f = Z C, solved for one who has no use for Z itself: a solver may start from C and never know Z. Checked
/// and locked as an Equilibrium is; C must not be written to either.
class Projection {
 public:
  virtual ~Projection() = default;

  /// Z C at these nodes, (index.size(0), columns of C).
  torch::Tensor rows(const torch::Tensor& index) const;

  using Gradients = ProjectedGradients;
  /// Given ∂L/∂f at these nodes (0 elsewhere).
  Gradients pull(const torch::Tensor& index, const torch::Tensor& cotangent) const;

  double seconds() const;

  /// Whether it was solved for this F and this C, neither of them written to since.
  bool is_of(const torch::Tensor& F, const torch::Tensor& C) const;

 protected:
  virtual torch::Tensor do_rows(const torch::Tensor& index) const = 0;
  virtual Gradients do_pull(const torch::Tensor& index, const torch::Tensor& cotangent) const = 0;

  mutable double seconds_ = 0;

 private:
  friend class Solver;
  template <class Work>
  auto checked(Work work) const;
  std::shared_ptr<const detail::Inputs> inputs_;  // set by Solver::project
};

/// Eigenvalues (k,) ascending and eigenvectors (k, k) of one diagonal block of S.
struct EigenBlock {
  torch::Tensor values, vectors;
};

/// Where eigenbases of S are kept between runs. The equilibrium room knows no files; see
/// eignn/spectrum_cache.h.
class SpectrumStore {
 public:
  virtual ~SpectrumStore() = default;
  /// Returns false when nothing is known under this key.
  virtual bool load(const std::string& key, std::vector<EigenBlock>& blocks) = 0;
  virtual void save(const std::string& key, const std::vector<EigenBlock>& blocks) = 0;
};

struct SolverOptions {
  double gamma = 0.8;
  double epsilon = 1e-12;
  torch::Dtype dtype = torch::kFloat64;
  torch::Device device = torch::kCPU;
  double tolerance = 0;              // iterative solvers: backward error to reach; 0: 10 units of round-off
  int64_t max_iterations = 100'000;  // then they give up with an error
  bool tf32 = false;    // krylov and picard on a GPU: sweeps in TF32 between residuals in full precision
  bool refine = false;  // direct: eigenvalues of g from long double; a thousand hops multiply their error
  bool features_stay = true;  // sparse: X comes back with other F, and what S does to it is worth keeping
  SpectrumStore* store = nullptr;  // spectral and krylov: eigenbases kept between runs
};

/// A solver bound to one graph. Its functions check their arguments, and threads take turns (see
/// Equilibrium).
///
///     auto S = std::make_shared<Propagation>(make_propagation(graph));
///     auto solver = make_solver("auto", S, {}, m);
///     auto Z = solver->solve(F, X)->rows().plain();
class Solver {
 public:
  virtual ~Solver() = default;
  virtual const char* name() const = 0;

  /// Z for F (m, m) and X (n, m), of the solver's type and device. X is analysed once and the analysis kept
  /// as long as the same tensor (same storage, same version) is given. ArgumentError where X has a NaN or an
  /// infinity (on a GPU only of an X that requires no gradient); ConvergenceError where F has, or the
  /// iteration does not arrive; ResourceError where memory or the device fails.
  std::shared_ptr<const Equilibrium> solve(const torch::Tensor& F, const torch::Tensor& X);

  /// Z C alone, C being (m, few).
  std::shared_ptr<const Projection> project(const torch::Tensor& F, const torch::Tensor& X,
                                            const torch::Tensor& C);

  /// Whether an evaluation and the next training step may share one solve, as nothing but F and X decides it.
  virtual bool shares_solves() const { return true; }

  const SolverOptions& options() const { return options_; }
  const Propagation& propagation() const { return *S_; }
  double preprocess_seconds() const { return preprocess_seconds_; }

 protected:
  Solver(std::shared_ptr<const Propagation> S, const SolverOptions& options);

  // The solver's own half: F and X are checked and contiguous, neither n nor m is 0, and the lock is held.
  virtual std::shared_ptr<Equilibrium> do_solve(const torch::Tensor& F, const torch::Tensor& X) = 0;
  /// By way of Z, unless a solver knows better.
  virtual std::shared_ptr<Projection> do_project(const torch::Tensor& F, const torch::Tensor& X,
                                                 const torch::Tensor& C);

  std::shared_ptr<const Propagation> S_;
  SolverOptions options_;
  double preprocess_seconds_ = 0;

 private:
  friend class Equilibrium;
  std::shared_ptr<detail::Door> door_;
};

/// By name: auto, spectral, direct, krylov, deflated, sparse, picard, published. Throws ArgumentError for an
/// unknown name (with the nearest one), for options out of range, for an S that is null or contradicts itself
/// (check() in propagation.h) and for a graph that the solver cannot take (a symmetric method, a directed
/// graph); ResourceError where its preparation does not fit into memory. `features` is m, 0 or more; `S` may
/// have no nodes.
std::unique_ptr<Solver> make_solver(const std::string& name, std::shared_ptr<const Propagation> S,
                                    const SolverOptions& options, int64_t features, bool needs_all = false);

const std::vector<std::string>& solver_names();

/// ‖Z - γ Sᵀ Z g - X‖_F / ‖X‖_F in float64, straight from the definition; `adjoint` takes S for Sᵀ. 0 when Z
/// = X = 0.
double residual(const Propagation& S, const torch::Tensor& Z, const torch::Tensor& F, const torch::Tensor& X,
                double gamma, double epsilon, bool adjoint = false);

/// The status of a solve: counts as the equilibrium kept them, the residual from the Z it returns. Not free
/// (a product n×m×m in float64), so it is asked for and not computed in every training step.
SolveStatus status_of(const Solver& solver, const Equilibrium& solved, const torch::Tensor& F,
                      const torch::Tensor& X);

/// Solves through autograd: differentiable in F and X, with the exact adjoint of the solver. Returns the
/// values at `index` (all nodes when undefined); gradients with respect to them are understood with the row's
/// own exponent taken out, so heads that do not depend on a row's scale may ignore `exponents`.
///
/// `cached` may name the equilibrium of the same solver, F and X, when it was solved already; ArgumentError
/// where it is another's.
ScaledRows equilibrium(Solver& solver, const torch::Tensor& F, const torch::Tensor& X,
                       const torch::Tensor& index = {}, std::shared_ptr<const Equilibrium> cached = nullptr);

/// The projection's rows through autograd: differentiable in F and C, which must be those it was solved for.
torch::Tensor projected(std::shared_ptr<const Projection> projection, const torch::Tensor& F,
                        const torch::Tensor& C, const torch::Tensor& index);

/// equilibrium() together with the moments over all nodes; one adjoint solve serves both.
std::pair<torch::Tensor, Moments> equilibrium_with_moments(
    Solver& solver, const torch::Tensor& F, const torch::Tensor& X, const torch::Tensor& index,
    std::shared_ptr<const Equilibrium> cached = nullptr);

}  // namespace eignn
