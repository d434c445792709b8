#include "eignn/solver.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>

#include "eignn/error.h"
#include "eignn/planner.h"
#include "equilibrium/door.h"
#include "equilibrium/feature_cache.h"
#include "equilibrium/solvers.h"
#include "equilibrium/stopwatch.h"
#include "equilibrium/sum_of_products.h"
#include "equilibrium/thin_equilibrium.h"
#include "graph/nearest_name.h"

namespace eignn {

namespace detail {

struct ThinState {
  std::shared_ptr<const ThinProblem> problem;
  FeatureCache<std::shared_ptr<const FeatureProduct>> features;
};

}  // namespace detail

namespace {

// f = Z C, computed from an equilibrium.
class ProjectedEquilibrium : public Projection {
 public:
  ProjectedEquilibrium(std::shared_ptr<const Equilibrium> solved, torch::Tensor C)
      : solved_(std::move(solved)), C_(std::move(C)) {}

 private:
  torch::Tensor do_rows(const torch::Tensor& index) const override {
    auto rows = solved_->project(index, C_);
    seconds_ = solved_->seconds();  // project() may have done work that solve() left undone
    return rows;
  }

  Gradients do_pull(const torch::Tensor& index, const torch::Tensor& cotangent) const override {
    return solved_->pull_projected(index, cotangent, C_);
  }

  std::shared_ptr<const Equilibrium> solved_;
  torch::Tensor C_;
};

// The equilibrium of no nodes or no features, whose results are all empty or zero.
class EmptyEquilibrium : public Equilibrium {
 public:
  EmptyEquilibrium(int64_t nodes, const torch::Tensor& F) : nodes_(nodes), zero_(torch::zeros_like(F)) {}

 private:
  ScaledRows do_rows(const torch::Tensor& index) const override {
    return {zero_.new_zeros({index.defined() ? index.size(0) : nodes_, zero_.size(1)}), {}};
  }
  Gradients do_pull(const torch::Tensor&, const ScaledRows&, bool want_X) const override {
    Gradients out;
    out.F = zero_.clone();
    if (want_X) out.X = do_rows({});
    return out;
  }

  int64_t nodes_;
  torch::Tensor zero_;  // of F's shape
};

void require_options(const SolverOptions& options, int64_t features) {
  if (!(options.gamma > 0 && options.gamma <= 1))
    throw ArgumentError("gamma", fmt::format("γ = {} is outside (0, 1]", options.gamma),
                        "beyond 1 the equilibrium need not exist");
  if (!(options.epsilon >= 0) || !std::isfinite(options.epsilon))
    throw ArgumentError("epsilon", fmt::format("ε = {} is negative or not finite", options.epsilon),
                        "the paper uses 1e-12");
  if (!(options.tolerance >= 0) || !std::isfinite(options.tolerance))
    throw ArgumentError("tolerance", fmt::format("{} is negative or not finite", options.tolerance),
                        "0 takes the default");
  if (options.max_iterations < 0)
    throw ArgumentError("max-iterations", fmt::format("{} is negative", options.max_iterations),
                        "give 0 or more");
  if (options.eigenpairs < 0)
    throw ArgumentError("eigenpairs", fmt::format("{} is negative", options.eigenpairs),
                        "give 1 or more, or 0 for 64");
  if (options.dtype != torch::kFloat32 && options.dtype != torch::kFloat64)
    throw ArgumentError("dtype", fmt::format("{} is not supported", c10::toString(options.dtype)),
                        "use float32 or float64");
  if (!options.device.is_cpu() && !options.device.is_cuda())
    throw ArgumentError("device", fmt::format("{} is not supported", options.device.str()),
                        "use cpu or cuda");
  if (options.device.is_cuda() &&
      (!torch::cuda::is_available() ||
       options.device.index() >= static_cast<int64_t>(torch::cuda::device_count())))
    throw ResourceError(fmt::format("there is no {} on this machine", options.device.str()), "device",
                        "use device cpu");
  constexpr int64_t most_features = std::numeric_limits<int32_t>::max();
  if (features < 0 || features > most_features)
    throw ArgumentError("features", fmt::format("{} is no number of features", features),
                        "give 0 to 2^31 - 1");
}

std::unique_ptr<Solver> made_solver(const std::string& name, const std::shared_ptr<const Propagation>& S,
                                    const SolverOptions& options, int64_t features, bool needs_all) {
  if (name == "auto") {
    PlanRequest request{*S};
    request.options = options;
    request.width = features;
    if (needs_all) request.reads = Reads::all_nodes;
    return made_solver(plan_solver(request).solver, S, options, features, needs_all);
  }
  if (name == "spectral") return make_spectral(S, options);
  if (name == "direct") return make_direct(S, options, features);
  if (name == "krylov") return make_krylov(S, options);
  if (name == "deflated") return make_deflated(S, options);
  if (name == "sparse") return make_sparse(S, options);
  if (name == "picard") return make_picard(S, options);
  if (name == "truncated") return make_truncated(S, options);
  if (name == "published") return make_published(S, options);
  throw unknown_name("solver", "solver", name, solver_names());
}

}  // namespace

torch::Tensor ScaledRows::plain() const {
  if (!exponents.defined()) return values;
  if (!values.defined() || values.dim() != 2 || exponents.dim() != 1 || exponents.size(0) != values.size(0))
    throw ArgumentError("exponents", "rows and exponents do not belong together",
                        "give one exponent per row");
  // In two halves, so that 2^e itself cannot overflow before the product is formed.
  const auto half = torch::div(exponents, 2, "floor"), rest = exponents - half;
  const auto power = [&](const torch::Tensor& e) {
    return torch::pow(2.0, e.clamp(-1000, 1000).to(torch::kFloat64)).unsqueeze(1);
  };
  return (values.to(torch::kFloat64) * power(half) * power(rest)).to(values.scalar_type());
}

// ---- the public functions: check the arguments, then call the solver's do_… functions

template <class Work>
auto Equilibrium::checked(Work work) const {
  if (!inputs_) throw ArgumentError("equilibrium", "it was not made by a solver", "call Solver::solve");
  return detail::under_lock(*inputs_->door, "equilibrium", [&] {
    inputs_->require_unchanged();
    return work(*inputs_, *inputs_->door);
  });
}

ScaledRows Equilibrium::rows(const torch::Tensor& index) const {
  return checked([&](const detail::Inputs&, detail::Door& door) { return do_rows(door.index(index)); });
}

torch::Tensor Equilibrium::project(const torch::Tensor& index, const torch::Tensor& C) const {
  return checked([&](const detail::Inputs& inputs, detail::Door& door) {
    door.require(C, "C", {inputs.features, -1});
    const auto at = door.index(index);
    return C.size(1) == 0 ? C.new_zeros({door.rows(at), 0}) : do_project(at, C.detach());
  });
}

Moments Equilibrium::moments() const {
  return checked([&](const detail::Inputs&, detail::Door& door) {
    if (door.nodes == 0) throw ArgumentError("S", "no nodes have no mean", "give a graph with nodes");
    return do_moments();
  });
}

Gradients Equilibrium::pull(const torch::Tensor& index, const ScaledRows& Y, bool want_X) const {
  return checked([&](const detail::Inputs& inputs, detail::Door& door) {
    const auto at = door.index(index);
    return do_pull(at, door.cotangent(Y, door.rows(at), inputs.features), want_X);
  });
}

ScaledRows Equilibrium::pull_X(const torch::Tensor& index, const ScaledRows& Y) const {
  return checked([&](const detail::Inputs& inputs, detail::Door& door) {
    const auto at = door.index(index);
    return do_pull_X(at, door.cotangent(Y, door.rows(at), inputs.features));
  });
}

Gradients Equilibrium::pull_with_moments(const torch::Tensor& index, const ScaledRows& Y,
                                         const Moments& moments, bool want_X) const {
  return checked([&](const detail::Inputs& inputs, detail::Door& door) {
    const auto at = door.index(index);
    const auto y = door.cotangent(Y, door.rows(at), inputs.features);
    door.require(moments.mean, "moments.mean", {inputs.features});
    door.require(moments.variance, "moments.variance", {inputs.features});
    if (door.nodes == 0) throw ArgumentError("S", "no nodes have no mean", "give a graph with nodes");
    return do_pull_with_moments(at, y, {moments.mean.contiguous(), moments.variance.contiguous()}, want_X);
  });
}

ProjectedGradients Equilibrium::pull_projected(const torch::Tensor& index, const torch::Tensor& cotangent,
                                               const torch::Tensor& C) const {
  return checked([&](const detail::Inputs& inputs, detail::Door& door) -> ProjectedGradients {
    door.require(C, "C", {inputs.features, -1});
    const auto at = door.index(index);
    door.require(cotangent, "cotangent", {door.rows(at), C.size(1)});
    if (C.size(1) == 0) return {inputs.F.zeros(), torch::zeros_like(C)};
    return do_pull_projected(at, cotangent.detach(), C.detach());
  });
}

std::optional<ErrorBound> Equilibrium::error_bound() const {
  return checked([&](const detail::Inputs&, detail::Door&) { return do_error_bound(); });
}

int64_t Equilibrium::iterations() const {
  return inputs_ ? detail::under_lock(*inputs_->door, "equilibrium", [&] { return iterations_; }) : 0;
}

double Equilibrium::seconds() const {
  return inputs_ ? detail::under_lock(*inputs_->door, "equilibrium", [&] { return seconds_; }) : 0;
}

bool Equilibrium::is_of(const Solver& solver, const torch::Tensor& F, const torch::Tensor& X) const {
  return inputs_ && inputs_->door == solver.door_ && inputs_->F.is(F) && inputs_->X.is(X);
}

template <class Work>
auto Projection::checked(Work work) const {
  if (!inputs_) throw ArgumentError("projection", "it was not made by a solver", "call Solver::project");
  return detail::under_lock(*inputs_->door, "projection", [&] {
    inputs_->require_unchanged();
    return work(*inputs_, *inputs_->door);
  });
}

torch::Tensor Projection::rows(const torch::Tensor& index) const {
  return checked([&](const detail::Inputs&, detail::Door& door) { return do_rows(door.index(index)); });
}

ProjectedGradients Projection::pull(const torch::Tensor& index, const torch::Tensor& cotangent) const {
  return checked([&](const detail::Inputs& inputs, detail::Door& door) {
    const auto at = door.index(index);
    door.require(cotangent, "cotangent", {door.rows(at), inputs.columns});
    return do_pull(at, cotangent.detach());
  });
}

double Projection::seconds() const {
  return inputs_ ? detail::under_lock(*inputs_->door, "projection", [&] { return seconds_; }) : 0;
}

bool Projection::is_of(const torch::Tensor& F, const torch::Tensor& C) const {
  return inputs_ && inputs_->F.is(F) && inputs_->C.is(C);
}

Solver::Solver(std::shared_ptr<const Propagation> S, const SolverOptions& options)
    : S_(std::move(S)), options_(options), door_(std::make_shared<detail::Door>(*S_, options)) {}

std::shared_ptr<const Equilibrium> Solver::solve(const torch::Tensor& F, const torch::Tensor& X) {
  return detail::under_lock(*door_, name(), [&]() -> std::shared_ptr<const Equilibrium> {
    const Stopwatch watch;
    const int64_t m = door_->features_of_weight(F);
    const auto x = X.defined() && X.is_sparse() && !takes_thin_F() ? door_->sparse_features(X, m)
                                                                   : door_->features(X, m);
    std::shared_ptr<Equilibrium> solved;
    if (door_->nodes == 0 || m == 0)
      solved = std::make_shared<EmptyEquilibrium>(door_->nodes, F.detach());
    else if (narrows(F, X))
      solved = solve_thin(F.is_inference() ? F.clone() : F.detach(), x);
    else
      solved = do_solve(F.is_inference() ? F.clone() : F.detach().contiguous(), x);
    solved->inputs_ = std::make_shared<detail::Inputs>(detail::Inputs{
        door_, m, detail::TensorSnapshot(F), detail::TensorSnapshot(X), detail::TensorSnapshot()});
    solved->seconds_ = watch.seconds();
    return solved;
  });
}

std::shared_ptr<Equilibrium> Solver::solve_thin(const torch::Tensor& F, const torch::Tensor& X) {
  if (!thin_)
    thin_ = std::make_shared<detail::ThinState>(
        detail::ThinState{std::make_shared<detail::ThinProblem>(detail::ThinProblem{
                              S_, SparseProduct(S_, options_.dtype, options_.device), options_}),
                          {}});
  const auto prepared = [](const torch::Tensor& x) { return std::make_shared<const FeatureProduct>(x); };
  return detail::solve_thin(
      thin_->problem, F, X.requires_grad() ? prepared(X) : thin_->features.get(X, prepared),
      [this](const torch::Tensor& f, const torch::Tensor& x) { return do_solve(f, x); });
}

std::shared_ptr<const Projection> Solver::project(const torch::Tensor& F, const torch::Tensor& X,
                                                  const torch::Tensor& C) {
  return detail::under_lock(*door_, name(), [&]() -> std::shared_ptr<const Projection> {
    const Stopwatch watch;
    const int64_t m = door_->features_of_weight(F);
    const auto x = X.defined() && X.is_sparse() && !takes_thin_F() ? door_->sparse_features(X, m)
                                                                   : door_->features(X, m);
    door_->require(C, "C", {m, -1});
    // A thin F's Z is not formed for its projections either.
    const bool by_solve = door_->nodes == 0 || m == 0 || C.size(1) == 0 || narrows(F, X);
    auto projection = by_solve
                          ? Solver::do_project(F, X, C.detach())
                          : do_project(F.is_inference() ? F.clone() : F.detach().contiguous(), x, C.detach());
    projection->inputs_ = std::make_shared<detail::Inputs>(
        detail::Inputs{door_, m, detail::TensorSnapshot(F), detail::TensorSnapshot(X),
                       detail::TensorSnapshot(C), C.size(1)});
    projection->seconds_ = watch.seconds();
    return projection;
  });
}

// ---- default implementations that a solver may override

torch::Tensor Equilibrium::do_project(const torch::Tensor& index, const torch::Tensor& C) const {
  return do_rows(index).plain().mm(C);
}

Moments Equilibrium::do_moments() const {
  const auto Z = do_rows({}).plain();
  if (!Z.is_cpu()) {
    const auto [variance, mean] = torch::var_mean(Z, /*dim=*/0, /*unbiased=*/false);
    return {mean, variance};
  }
  const auto over_nodes = [&, n = all_nodes(Z.size(0))](const torch::Tensor& t) {
    if (n == Z.size(0)) return t.mean(0);
    const auto sum = sum_over_nodes(t.sum(0, /*keepdim=*/false, torch::kFloat64));
    return (sum / static_cast<double>(n)).to(t.scalar_type());
  };
  const auto mean = over_nodes(Z);
  return {mean, over_nodes((Z - mean).square_())};  // libtorch's var(0) takes five times as long
}

ScaledRows Equilibrium::do_pull_X(const torch::Tensor& index, const ScaledRows& Y) const {
  return do_pull(index, Y, /*want_X=*/true).X;
}

Gradients Equilibrium::do_pull_with_moments(const torch::Tensor& index, const ScaledRows& Y,
                                            const Moments& of_loss_here, bool want_X) const {
  const auto Z = do_rows({}).plain();
  const auto n = static_cast<double>(all_nodes(Z.size(0)));
  const Moments moments{sum_over_nodes(of_loss_here.mean), sum_over_nodes(of_loss_here.variance)};
  // ∂mean = 1/n, ∂variance = 2 (z - mean)/n; Z - mean is not formed
  const auto slope = 2 / n * moments.variance;
  const auto mean = all_nodes(Z.size(0)) == Z.size(0) ? Z.mean(0) : do_moments().mean;
  auto everywhere = torch::addcmul(moments.mean / n - mean * slope, Z, slope);
  if (index.defined())
    everywhere.index_add_(0, index, Y.plain());
  else
    everywhere += Y.plain();
  return do_pull({}, {everywhere, {}}, want_X);
}

ProjectedGradients Equilibrium::do_pull_projected(const torch::Tensor& index, const torch::Tensor& cotangent,
                                                  const torch::Tensor& C) const {
  return {do_pull(index, {cotangent.mm(C.t()), {}}, /*want_X=*/false).F,
          sum_over_nodes(sum_of_products(do_rows(index).plain(), cotangent))};
}

std::shared_ptr<Projection> Solver::do_project(const torch::Tensor& F, const torch::Tensor& X,
                                               const torch::Tensor& C) {
  return std::make_shared<ProjectedEquilibrium>(solve(F, X), C);
}

const std::vector<std::string>& solver_names() {
  static const std::vector<std::string> names = {"auto",   "spectral", "direct",    "krylov",   "deflated",
                                                 "sparse", "picard",   "truncated", "published"};
  return names;
}

std::unique_ptr<Solver> make_solver(const std::string& name, std::shared_ptr<const Propagation> S,
                                    const SolverOptions& options, int64_t features, bool needs_all) {
  require_options(options, features);
  if (!S) throw ArgumentError("S", "there is no matrix S", "make one with make_propagation");
  check(*S);
  const detail::WithoutAutograd mode;
  return with_our_errors(name, [&] { return made_solver(name, S, options, features, needs_all); });
}

}  // namespace eignn
