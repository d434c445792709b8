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

  /// The rows in the ordinary range: what underflows is 0, what overflows is infinite.
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

/// A solved equilibrium. Holds what its adjoint needs, and does not change; neither may X, which it may read
/// again. Some work may be left until it is asked for, so that one solver's equilibria are for one thread.
class Equilibrium {
 public:
  virtual ~Equilibrium() = default;

  /// Z at the given nodes (int64 index), or at all nodes when the index is undefined.
  virtual ScaledRows rows(const torch::Tensor& index = {}) const = 0;

  /// Z C at these nodes: scores without the Z they come from, where a solver can do without.
  virtual torch::Tensor project(const torch::Tensor& index, const torch::Tensor& C) const;

  virtual Moments moments() const;

  /// Given Y = ∂L/∂Z at these nodes (0 elsewhere), solves W = γ g W Sᵀ + Y and returns the gradients.
  virtual Gradients pull(const torch::Tensor& index, const ScaledRows& Y, bool want_X) const = 0;

  /// W at all nodes, for one who has no use for the gradient in F.
  virtual ScaledRows pull_X(const torch::Tensor& index, const ScaledRows& Y) const {
    return pull(index, Y, /*want_X=*/true).X;
  }

  /// The same as pull() for an L that depends on the moments too, with these derivatives.
  virtual Gradients pull_with_moments(const torch::Tensor& index, const ScaledRows& Y, const Moments& moments,
                                      bool want_X) const;

  /// Given ∂L/∂(Z C) at these nodes (0 elsewhere).
  virtual ProjectedGradients pull_projected(const torch::Tensor& index, const torch::Tensor& cotangent,
                                            const torch::Tensor& C) const;

  // Of what was done so far: a solver may leave Z at all nodes until somebody asks for it.
  mutable int64_t iterations = 0;
  mutable double seconds = 0;
};

/// f = Z C, solved for one who has no use for Z itself: a solver may start from C and never know Z. Does not
/// change.
class Projection {
 public:
  virtual ~Projection() = default;

  /// Z C at these nodes, (index.size(0), columns of C).
  virtual torch::Tensor rows(const torch::Tensor& index) const = 0;

  using Gradients = ProjectedGradients;
  /// Given ∂L/∂f at these nodes (0 elsewhere).
  virtual Gradients pull(const torch::Tensor& index, const torch::Tensor& cotangent) const = 0;

  mutable double seconds = 0;
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

/// A solver bound to one graph.
///
///     auto S = std::make_shared<Propagation>(make_propagation(graph));
///     auto solver = make_solver("auto", S, {}, m);
///     auto Z = solver->solve(F, X)->rows().plain();
class Solver {
 public:
  virtual ~Solver() = default;
  virtual const char* name() const = 0;

  /// X is analysed once and the analysis kept as long as the same tensor (same storage, same version) is
  /// given.
  virtual std::shared_ptr<const Equilibrium> solve(const torch::Tensor& F, const torch::Tensor& X) = 0;

  /// Z C alone, C being (m, few).
  virtual std::shared_ptr<const Projection> project(const torch::Tensor& F, const torch::Tensor& X,
                                                    const torch::Tensor& C);

  /// Whether an evaluation and the next training step may share one solve, as nothing but F and X decides it.
  virtual bool shares_solves() const { return true; }

  const SolverOptions& options() const { return options_; }
  const Propagation& propagation() const { return *S_; }
  double preprocess_seconds() const { return preprocess_seconds_; }

 protected:
  Solver(std::shared_ptr<const Propagation> S, SolverOptions options) : S_(std::move(S)), options_(options) {}
  std::shared_ptr<const Propagation> S_;
  SolverOptions options_;
  double preprocess_seconds_ = 0;
};

/// By name: auto, spectral, direct, krylov, deflated, sparse, picard, published. Throws UsageError for an
/// unknown name (with the nearest one) and for a graph that the solver cannot take (a symmetric method, a
/// directed graph).
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
/// `cached` may name the equilibrium of the same F and X, when it was solved already.
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
