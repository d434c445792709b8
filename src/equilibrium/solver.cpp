#include "eignn/solver.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include "eignn/error.h"
#include "eignn/planner.h"
#include "equilibrium/solvers.h"
#include "graph/nearest_name.h"

namespace eignn {

namespace {

// By way of Z.
class ProjectedEquilibrium : public Projection {
 public:
  ProjectedEquilibrium(std::shared_ptr<const Equilibrium> solved, torch::Tensor C)
      : solved_(std::move(solved)), C_(std::move(C)) {}

  torch::Tensor rows(const torch::Tensor& index) const override {
    auto rows = solved_->project(index, C_);
    seconds = solved_->seconds;  // it may have left its work until now
    return rows;
  }

  Gradients pull(const torch::Tensor& index, const torch::Tensor& cotangent) const override {
    return solved_->pull_projected(index, cotangent, C_);
  }

 private:
  std::shared_ptr<const Equilibrium> solved_;
  torch::Tensor C_;
};

}  // namespace

torch::Tensor ScaledRows::plain() const {
  if (!exponents.defined()) return values;
  // In two halves, so that 2^e itself cannot overflow before the product is formed.
  const auto half = torch::div(exponents, 2, "floor"), rest = exponents - half;
  const auto power = [&](const torch::Tensor& e) {
    return torch::pow(2.0, e.clamp(-1000, 1000).to(torch::kFloat64)).unsqueeze(1);
  };
  return (values.to(torch::kFloat64) * power(half) * power(rest)).to(values.scalar_type());
}

torch::Tensor Equilibrium::project(const torch::Tensor& index, const torch::Tensor& C) const {
  return rows(index).plain().mm(C);
}

Moments Equilibrium::moments() const {
  const auto Z = rows().plain();
  if (!Z.is_cpu()) {
    const auto [variance, mean] = torch::var_mean(Z, /*dim=*/0, /*unbiased=*/false);
    return {mean, variance};
  }
  const auto mean = Z.mean(0);
  return {mean, (Z - mean).square_().mean(0)};  // libtorch's var(0) takes five times as long
}

Gradients Equilibrium::pull_with_moments(const torch::Tensor& index, const ScaledRows& Y,
                                         const Moments& moments, bool want_X) const {
  const auto Z = rows().plain();
  const auto n = static_cast<double>(Z.size(0));
  // ∂mean = 1/n, ∂variance = 2 (z - mean)/n, without a Z - mean in memory
  const auto slope = 2 / n * moments.variance;
  auto everywhere = torch::addcmul(moments.mean / n - Z.mean(0) * slope, Z, slope);
  if (index.defined())
    everywhere.index_add_(0, index, Y.plain());
  else
    everywhere += Y.plain();
  return pull({}, {everywhere, {}}, want_X);
}

ProjectedGradients Equilibrium::pull_projected(const torch::Tensor& index, const torch::Tensor& cotangent,
                                               const torch::Tensor& C) const {
  return {pull(index, {cotangent.mm(C.t()), {}}, /*want_X=*/false).F, rows(index).plain().t().mm(cotangent)};
}

std::shared_ptr<const Projection> Solver::project(const torch::Tensor& F, const torch::Tensor& X,
                                                  const torch::Tensor& C) {
  auto solved = solve(F, X);
  auto projection = std::make_shared<ProjectedEquilibrium>(solved, C);
  projection->seconds = solved->seconds;
  return projection;
}

const std::vector<std::string>& solver_names() {
  static const std::vector<std::string> names = {"auto",     "spectral", "direct", "krylov",
                                                 "deflated", "sparse",   "picard", "published"};
  return names;
}

std::unique_ptr<Solver> make_solver(const std::string& name, std::shared_ptr<const Propagation> S,
                                    const SolverOptions& options, int64_t features, bool needs_all) {
  if (!(options.gamma > 0 && options.gamma <= 1))
    throw UsageError(fmt::format(
        "γ = {} is outside (0, 1] (--gamma); beyond 1 the equilibrium need not exist", options.gamma));
  if (!(options.epsilon >= 0) || !std::isfinite(options.epsilon))
    throw UsageError(
        fmt::format("ε = {} is negative or not finite (--epsilon); the paper uses 1e-12", options.epsilon));
  if (name == "auto") {
    PlanRequest request{*S};
    request.options = options;
    request.width = features;
    if (needs_all) request.reads = Reads::all_nodes;
    return make_solver(plan_solver(request).solver, S, options, features);
  }
  if (name == "spectral") return make_spectral(std::move(S), options);
  if (name == "direct") return make_direct(std::move(S), options, features);
  if (name == "krylov") return make_krylov(std::move(S), options);
  if (name == "deflated") return make_deflated(std::move(S), options);
  if (name == "sparse") return make_sparse(std::move(S), options);
  if (name == "picard") return make_picard(std::move(S), options);
  if (name == "published") return make_published(std::move(S), options);
  throw unknown_name("solver", "solver", name, solver_names());
}

}  // namespace eignn
