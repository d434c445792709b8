// The interface of all solvers of the equilibrium Z = γ g(F) Z S + X.
//
// As everywhere in the public interface, matrices are node-major: X and Z have a row per node, and the
// equation is Z = γ Sᵀ Z g + X with g = FᵀF / (‖FᵀF‖_F + ε).
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "eignn/propagation.h"

namespace eignn {

/// Rows with an exponent each: the true row j is values[j] · 2^exponents[j]. `exponents` is undefined when
/// all are zero, as they are unless a signal left the floating range. Code that does not depend on the scale
/// of a row (a normalised embedding) may use `values` alone.
struct ScaledRows {
  torch::Tensor values;     // (rows, m)
  torch::Tensor exponents;  // int64 (rows,) or undefined

  /// The rows as ordinary numbers: those that underflow become 0, those that overflow infinite. ArgumentError
  /// unless there is one exponent per row.
  torch::Tensor plain() const;
};

/// How far the Z of a solver that approximates may be from that of the equation:
/// ‖Z - Z_exact‖_F ≤ bound = b/(1 - b) ‖X - Q_k Q_kᵀ X‖_F with b = γ μ₁ |λ_{k+1}|.
struct ErrorBound {
  int64_t eigenpairs = 0;      // of S that are kept: k
  double next_eigenvalue = 0;  // |λ_{k+1}|, of the largest that is left out; 0 where none is
  double bound = 0;
  double size = 0;  // ‖Z‖_F of the Z that is returned

  /// The bound as a share of ‖Z‖_F.
  double relative() const { return size > 0 ? bound / size : 0; }
};

/// The status of a solve, see status_of().
struct SolveStatus {
  std::string solver;
  double residual = 0;     // ‖Z - γ g Z S - X‖_F / ‖X‖_F, from the returned Z
  int64_t iterations = 0;  // 0 for closed forms
  double seconds = 0;
  std::optional<ErrorBound> error_bound = {};  // of the solver truncated
};

struct Gradients {
  torch::Tensor F;  // ∂L/∂F, of F's shape
  ScaledRows X;     // ∂L/∂X = W (n, m); only where it was requested
  int64_t iterations = 0;
};

/// Mean and variance of each feature of Z over all nodes, for batch normalisation.
struct Moments {
  torch::Tensor mean, variance;  // (m,); the variance divides by n

  bool defined() const { return mean.defined(); }
};

/// The gradients of f = Z C: ∂L/∂F (m, m) and ∂L/∂C (m, columns).
struct ProjectedGradients {
  torch::Tensor F, C;
};

class Solver;

namespace detail {
struct Door;       // the argument checks and the lock of a solver
struct Inputs;     // the F and X of a solve
struct ThinState;  // what a solver keeps for an F of fewer rows than columns
class ThinEquilibrium;
}  // namespace detail

/// A solved equilibrium. Keeps what its adjoint needs, also after its solver was destroyed.
///
/// Every public function checks its arguments (ArgumentError: shapes, types, devices, indices out of range)
/// and refuses to work where F or X was written to after the solve (ArgumentError: F, X). Tensors must have
/// the solver's type and device. An index is int64 (rows,); an undefined index stands for all nodes. Nothing
/// here is recorded by autograd; use equilibrium() below for that.
///
/// A solver and all that it solved share one lock, which each public function holds: they may be used from
/// any number of threads, and calls are executed one at a time. Without nodes or without features the results
/// are empty tensors of the right shape; only the moments of no nodes are refused.
class Equilibrium {
 public:
  virtual ~Equilibrium() = default;

  /// Z at the given nodes, (rows, m), or at all nodes when the index is undefined. Not to be written to.
  ScaledRows rows(const torch::Tensor& index = {}) const;

  /// Z C at these nodes, (rows, columns), for C (m, columns). Computed without forming Z where the solver
  /// can.
  torch::Tensor project(const torch::Tensor& index, const torch::Tensor& C) const;

  Moments moments() const;

  /// Given Y = ∂L/∂Z at these nodes, (rows, m), and 0 elsewhere, solves W = γ g W Sᵀ + Y and returns the
  /// gradients; that of X only with `want_X`.
  Gradients pull(const torch::Tensor& index, const ScaledRows& Y, bool want_X) const;

  /// ∂L/∂X = W at all nodes, (n, m), without the gradient in F.
  ScaledRows pull_X(const torch::Tensor& index, const ScaledRows& Y) const;

  /// pull() for an L that depends on the moments too; `moments` has ∂L/∂mean and ∂L/∂variance, (m,) each.
  Gradients pull_with_moments(const torch::Tensor& index, const ScaledRows& Y, const Moments& moments,
                              bool want_X) const;

  /// The gradients given ∂L/∂(Z C) at these nodes, (rows, columns), and 0 elsewhere.
  ProjectedGradients pull_projected(const torch::Tensor& index, const torch::Tensor& cotangent,
                                    const torch::Tensor& C) const;

  /// How far Z may be from that of the equation; nothing where it is that, to the solver's accuracy.
  std::optional<ErrorBound> error_bound() const;

  // Iterations and seconds so far: a solver may postpone solving for Z at all nodes until it is requested.
  int64_t iterations() const;
  double seconds() const;

  /// Whether `solver` made it for this F and this X, and neither was written to since.
  bool is_of(const Solver& solver, const torch::Tensor& F, const torch::Tensor& X) const;

 protected:
  // Implemented by the solvers. The arguments are checked, contiguous where kernels need it, and the lock is
  // held.
  virtual ScaledRows do_rows(const torch::Tensor& index) const = 0;
  virtual torch::Tensor do_project(const torch::Tensor& index, const torch::Tensor& C) const;
  virtual Moments do_moments() const;
  virtual Gradients do_pull(const torch::Tensor& index, const ScaledRows& Y, bool want_X) const = 0;
  virtual ScaledRows do_pull_X(const torch::Tensor& index, const ScaledRows& Y) const;
  virtual Gradients do_pull_with_moments(const torch::Tensor& index, const ScaledRows& Y,
                                         const Moments& moments, bool want_X) const;
  virtual ProjectedGradients do_pull_projected(const torch::Tensor& index, const torch::Tensor& cotangent,
                                               const torch::Tensor& C) const;
  virtual std::optional<ErrorBound> do_error_bound() const { return {}; }

  /// Where the nodes are spread over processes: the sum over all of what each has summed over its own, and
  /// the number of them.
  virtual torch::Tensor sum_over_nodes(torch::Tensor of_nodes_here) const { return of_nodes_here; }
  virtual int64_t all_nodes(int64_t here) const { return here; }

  mutable int64_t iterations_ = 0;
  mutable double seconds_ = 0;

 private:
  friend class Solver;
  friend class detail::ThinEquilibrium;
  template <class Work>
  auto checked(Work work) const;                  // runs work(inputs, door) under the lock
  std::shared_ptr<const detail::Inputs> inputs_;  // set by Solver::solve
};

/// f = Z C, where Z itself is not needed: a solver may start from C and never form Z. Arguments are checked
/// and calls locked as for an Equilibrium; C must not be written to after the solve either.
class Projection {
 public:
  virtual ~Projection() = default;

  /// Z C at these nodes, (rows, columns of C); an undefined index stands for all nodes.
  torch::Tensor rows(const torch::Tensor& index) const;

  using Gradients = ProjectedGradients;
  /// The gradients given ∂L/∂f at these nodes, (rows, columns of C), and 0 elsewhere.
  Gradients pull(const torch::Tensor& index, const torch::Tensor& cotangent) const;

  double seconds() const;

  /// Whether it was made for this F and this C, and neither was written to since.
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

/// Keeps eigenbases of S between runs. eignn/spectrum_cache.h implements it with files.
class SpectrumStore {
 public:
  virtual ~SpectrumStore() = default;
  /// Returns false when nothing is stored under this key.
  virtual bool load(const std::string& key, std::vector<EigenBlock>& blocks) = 0;
  virtual void save(const std::string& key, const std::vector<EigenBlock>& blocks) = 0;
};

/// Keeps T_p(S) X at sets of nodes, so that a run that goes on need not make the products with S again.
class TermsStore {
 public:
  virtual ~TermsStore() = default;
  /// The terms that are kept under this key; none where there are none.
  virtual std::vector<torch::Tensor> load(const std::string& key) = 0;
  /// `seconds`: what making them took.
  virtual void save(const std::string& key, const std::vector<torch::Tensor>& terms, double seconds) = 0;
};

struct SolverOptions {
  double gamma = 0.8;
  double epsilon = 1e-12;
  torch::Dtype dtype = torch::kFloat64;
  torch::Device device = torch::kCPU;
  double tolerance = 0;              // iterative solvers: bound on the backward error; 0: 10 round-off units
  int64_t max_iterations = 100'000;  // of iterative solvers; then ConvergenceError
  bool tf32 = false;       // krylov, picard on a GPU: iterate in TF32, with residuals in full precision
  bool refine = false;     // direct: long double for the eigenvalues of g, whose errors grow with the hops
  int64_t eigenpairs = 0;  // truncated: of S, those of largest magnitude; 0: 64, or all of a smaller graph
  bool fixed_features = true;  // sparse: the same X is solved for many F, so products of S with it are kept
  /// sparse: a limit on the memory of the process, in bytes; 0: none. T_p(S) X at the nodes that are read is
  /// formed for as many columns of X at a time as the limit leaves room for, with the same bits.
  /// ResourceError where it leaves none.
  uint64_t memory = 0;
  SpectrumStore* store = nullptr;  // spectral and krylov: keeps eigenbases between runs; not owned
  std::shared_ptr<TermsStore> terms = nullptr;  // sparse, on an S with a fingerprint; null: nothing is kept
};

/// A solver for one graph. Its functions check their arguments, and calls from several threads are executed
/// one at a time (see Equilibrium).
///
///     auto S = std::make_shared<Propagation>(make_propagation(graph));
///     auto solver = make_solver("auto", S, {}, m);
///     auto Z = solver->solve(F, X)->rows().plain();
class Solver {
 public:
  virtual ~Solver() = default;
  virtual const char* name() const = 0;

  /// Solves for Z, given F (m, m) and X (n, m) of the solver's type and device. With a thin F, (r, m) with
  /// r < m, the solver works in r dimensions, and reads X by products alone; so it does with a sparse X (COO,
  /// coalesced), which every solver but published takes. X is analysed once, and the
  /// analysis is kept as long as the same tensor (same storage, same version) is given. ArgumentError where X
  /// has a NaN or an infinity (on a GPU only of an X that requires no gradient); ConvergenceError where F has
  /// one, or the iteration does not converge; ResourceError where memory or the device fails.
  std::shared_ptr<const Equilibrium> solve(const torch::Tensor& F, const torch::Tensor& X);

  /// Solves for Z C alone, with a C (m, columns) of few columns. Throws as solve() does.
  std::shared_ptr<const Projection> project(const torch::Tensor& F, const torch::Tensor& X,
                                            const torch::Tensor& C);

  /// Whether an evaluation and the next training step may share one solve, which depends on F and X alone.
  /// False only for `published`.
  virtual bool shares_solves() const { return true; }

  /// Whether its Z is another than that of the equation, by up to Equilibrium::error_bound(). True only for
  /// `truncated`.
  virtual bool approximates() const { return false; }

  const SolverOptions& options() const { return options_; }
  const Propagation& propagation() const { return *S_; }
  /// The nodes of all processes, where a graph is spread over several; otherwise those of propagation().
  virtual int64_t nodes() const { return S_->nodes; }
  double preprocess_seconds() const { return preprocess_seconds_; }

 protected:
  Solver(std::shared_ptr<const Propagation> S, const SolverOptions& options);

  // Implemented by the solvers. F and X are checked and contiguous, neither n nor m is 0, and the lock is
  // held.
  virtual std::shared_ptr<Equilibrium> do_solve(const torch::Tensor& F, const torch::Tensor& X) = 0;
  /// Solves for Z first, unless a solver overrides it.
  virtual std::shared_ptr<Projection> do_project(const torch::Tensor& F, const torch::Tensor& X,
                                                 const torch::Tensor& C);

  /// Whether do_solve() takes an F of fewer rows than columns. Where it does not, it is given the equilibrium
  /// of F's width instead.
  virtual bool takes_thin_F() const { return false; }

  std::shared_ptr<const Propagation> S_;
  SolverOptions options_;
  double preprocess_seconds_ = 0;

 private:
  friend class Equilibrium;
  bool narrows(const torch::Tensor& F, const torch::Tensor& X) const {
    return (F.size(0) < F.size(1) || X.is_sparse()) && !takes_thin_F();
  }
  std::shared_ptr<Equilibrium> solve_thin(const torch::Tensor& F, const torch::Tensor& X);
  std::shared_ptr<detail::ThinState> thin_;  // null: no thin F was there yet
  std::shared_ptr<detail::Door> door_;
};

/// Makes a solver by name: auto, spectral, direct, krylov, deflated, sparse, picard, truncated, published.
/// `truncated` approximates, says how far it may be off (Equilibrium::error_bound), and is never what `auto`
/// takes. `features` is the number of rows of F (m, or less for a thin F), 0 or more; `S` may have no nodes.
/// `needs_all` tells `auto` that Z will be read at all nodes. Throws ArgumentError for an unknown name (with
/// the nearest one), for options out of range, for an S that is null or inconsistent (check() in
/// propagation.h) and for a graph that the solver cannot take (a symmetric method, a directed graph);
/// ResourceError where its preparation does not fit into memory.
std::unique_ptr<Solver> make_solver(const std::string& name, std::shared_ptr<const Propagation> S,
                                    const SolverOptions& options, int64_t features, bool needs_all = false);

const std::vector<std::string>& solver_names();

/// ‖Z - γ Sᵀ Z g - X‖_F / ‖X‖_F in float64, straight from the definition, or ‖Z - γ Sᵀ Z g‖_F where X = 0;
/// `adjoint` takes S for Sᵀ. The tensors may be of any real type and on any device; ArgumentError for wrong
/// shapes.
double residual(const Propagation& S, const torch::Tensor& Z, const torch::Tensor& F, const torch::Tensor& X,
                double gamma, double epsilon, bool adjoint = false);

/// The status of a solve: its counts so far, and the residual of the Z that it returns. The residual costs a
/// product n×m×m in float64, so it is not computed in every solve.
SolveStatus status_of(const Solver& solver, const Equilibrium& solved, const torch::Tensor& F,
                      const torch::Tensor& X);

/// Solves as an autograd function that is differentiable in F and X, with the exact adjoint of the solver.
/// Returns the rows at `index` (all nodes when undefined). The incoming gradient is taken as ∂L/∂values,
/// without the rows' exponents, so heads that do not depend on a row's scale may ignore `exponents`.
///
/// `cached` may be an equilibrium that the same solver made for this F and X, which is then not solved again;
/// ArgumentError where it is another's.
ScaledRows equilibrium(Solver& solver, const torch::Tensor& F, const torch::Tensor& X,
                       const torch::Tensor& index = {}, std::shared_ptr<const Equilibrium> cached = nullptr);

/// The projection's rows as an autograd function that is differentiable in F and C, which must be those it
/// was solved for (ArgumentError otherwise). No gradient flows to X.
torch::Tensor projected(std::shared_ptr<const Projection> projection, const torch::Tensor& F,
                        const torch::Tensor& C, const torch::Tensor& index);

/// equilibrium() together with the moments over all nodes; one adjoint solve serves both. The rows are
/// returned without exponents.
std::pair<torch::Tensor, Moments> equilibrium_with_moments(
    Solver& solver, const torch::Tensor& F, const torch::Tensor& X, const torch::Tensor& index,
    std::shared_ptr<const Equilibrium> cached = nullptr);

}  // namespace eignn
