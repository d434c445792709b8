// The equilibrium as a libtorch autograd function whose backward pass is the solver's own adjoint.
#include <torch/torch.h>

#include "eignn/error.h"
#include "eignn/solver.h"
#include "equilibrium/tf32.h"

namespace eignn {

namespace {

// State that the backward pass needs besides the incoming gradient.
struct Solved : torch::CustomClassHolder {
  std::shared_ptr<const Equilibrium> equilibrium;
  torch::Tensor index;      // undefined: all nodes
  torch::Tensor exponents;  // undefined: all zero
  bool with_moments = false, want_F = false, want_X = false;
};

torch::Tensor or_zeros(const torch::Tensor& gradient, const torch::Tensor& rows) {
  return gradient.defined() ? gradient : torch::zeros({rows.size(1)}, rows.options());
}

class EquilibriumFunction : public torch::autograd::Function<EquilibriumFunction> {
 public:
  /// Returns the values of the rows and, with moments, the mean and variance over all nodes after them.
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* context,
                                                const torch::Tensor& F, const torch::Tensor& X,
                                                const c10::intrusive_ptr<Solved>& solved) {
    const ProductsInTf32 in_full(false, X.device());
    ScaledRows rows = solved->equilibrium->rows(solved->index);
    solved->want_F = F.requires_grad();
    solved->want_X = X.requires_grad();
    context->saved_data["solved"] = c10::IValue::make_capsule(solved);
    if (solved->with_moments) {
      const Moments moments = solved->equilibrium->moments();
      return {rows.plain().detach(), moments.mean, moments.variance};
    }
    solved->exponents = rows.exponents;
    // Detached, because the output's autograd history owns the equilibrium: returning a tensor that the
    // equilibrium owns would make a reference cycle.
    return {rows.values.detach()};
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto capsule = context->saved_data["solved"].toCapsule();
    const auto& solved = static_cast<Solved&>(*capsule);
    // Z = values · 2^E, so ∂L/∂Z = ∂L/∂values · 2^-E
    const ScaledRows Y{gradients[0].contiguous(),
                       solved.exponents.defined() ? -solved.exponents : torch::Tensor()};
    const ProductsInTf32 in_full(false, gradients[0].device());
    const auto& equilibrium = *solved.equilibrium;
    if (!solved.want_F && !solved.with_moments)
      return {torch::Tensor(), equilibrium.pull_X(solved.index, Y).plain(), torch::Tensor()};
    const Gradients pulled =
        solved.with_moments
            ? equilibrium.pull_with_moments(
                  solved.index, Y, {or_zeros(gradients[1], Y.values), or_zeros(gradients[2], Y.values)},
                  solved.want_X)
            : equilibrium.pull(solved.index, Y, solved.want_X);
    return {pulled.F, solved.want_X ? pulled.X.plain() : torch::Tensor(), torch::Tensor()};
  }
};

struct Projected : torch::CustomClassHolder {
  std::shared_ptr<const Projection> projection;
  torch::Tensor index;
};

class ProjectionFunction : public torch::autograd::Function<ProjectionFunction> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& F,
                               const torch::Tensor& /*C*/, const c10::intrusive_ptr<Projected>& projected) {
    const ProductsInTf32 in_full(false, F.device());
    context->saved_data["projected"] = c10::IValue::make_capsule(projected);
    return projected->projection->rows(projected->index).detach();
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const ProductsInTf32 in_full(false, gradients[0].device());
    const auto capsule = context->saved_data["projected"].toCapsule();
    const auto& projected = static_cast<Projected&>(*capsule);
    const auto pulled = projected.projection->pull(projected.index, gradients[0].contiguous());
    return {pulled.F, pulled.C, torch::Tensor()};
  }
};

c10::intrusive_ptr<Solved> solve(Solver& solver, const torch::Tensor& F, const torch::Tensor& X,
                                 const torch::Tensor& index, std::shared_ptr<const Equilibrium> cached) {
  if (cached && !cached->is_of(solver, F, X))
    throw ArgumentError("cached",
                        "it was not solved for this F and X by this solver, or one was written to since",
                        "solve again");
  if (!cached) {
    const ProductsInTf32 in_full(false, X.device());
    cached = solver.solve(F, X);
  }
  auto solved = c10::make_intrusive<Solved>();
  solved->equilibrium = std::move(cached);
  solved->index = index;
  return solved;
}

}  // namespace

ScaledRows equilibrium(Solver& solver, const torch::Tensor& F, const torch::Tensor& X,
                       const torch::Tensor& index, std::shared_ptr<const Equilibrium> cached) {
  const auto solved = solve(solver, F, X, index, std::move(cached));
  const auto values = EquilibriumFunction::apply(F, X, solved)[0];
  return {values, solved->exponents};
}

torch::Tensor projected(std::shared_ptr<const Projection> projection, const torch::Tensor& F,
                        const torch::Tensor& C, const torch::Tensor& index) {
  if (!projection) throw ArgumentError("projection", "there is none", "make one with Solver::project");
  if (!projection->is_of(F, C))
    throw ArgumentError("projection", "it was not solved for this F and C, or one was written to since",
                        "project again");
  auto state = c10::make_intrusive<Projected>();
  state->projection = std::move(projection);
  state->index = index;
  return ProjectionFunction::apply(F, C, state);
}

std::pair<torch::Tensor, Moments> equilibrium_with_moments(Solver& solver, const torch::Tensor& F,
                                                           const torch::Tensor& X, const torch::Tensor& index,
                                                           std::shared_ptr<const Equilibrium> cached) {
  const auto solved = solve(solver, F, X, index, std::move(cached));
  solved->with_moments = true;
  const auto out = EquilibriumFunction::apply(F, X, solved);
  return {out[0], {out[1], out[2]}};
}

}  // namespace eignn
