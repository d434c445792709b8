// The equilibrium as a node of libtorch's graph: its backward is the solver's own adjoint.
#include <torch/torch.h>

#include "eignn/solver.h"

namespace eignn {

namespace {

struct SolvedEquilibrium : torch::CustomClassHolder {
  std::shared_ptr<const Equilibrium> equilibrium;
};

class EquilibriumFunction : public torch::autograd::Function<EquilibriumFunction> {
 public:
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* context,
                                                const torch::Tensor& F, const torch::Tensor& X,
                                                const torch::Tensor& index,
                                                std::shared_ptr<const Equilibrium> equilibrium) {
    ScaledRows rows = equilibrium->rows(index);
    const bool scaled = rows.exponents.defined();
    auto exponents =
        scaled ? rows.exponents : torch::empty({0}, index.defined() ? index.options() : torch::kInt64);
    auto holder = c10::make_intrusive<SolvedEquilibrium>();
    holder->equilibrium = std::move(equilibrium);
    context->saved_data["equilibrium"] = c10::IValue::make_capsule(std::move(holder));
    context->saved_data["index"] = index;
    context->saved_data["exponents"] = exponents;
    context->saved_data["want_X"] = X.requires_grad();
    (void)F;
    context->mark_non_differentiable({exponents});
    return {rows.values, exponents};
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto holder = context->saved_data["equilibrium"].toCapsule();
    const auto& equilibrium = static_cast<SolvedEquilibrium&>(*holder).equilibrium;
    const bool want_X = context->saved_data["want_X"].toBool();
    // Z = values · 2^E, so ∂L/∂Z = ∂L/∂values · 2^-E
    const auto exponents = context->saved_data["exponents"].toTensor();
    const ScaledRows Y{gradients[0].contiguous(), exponents.numel() > 0 ? -exponents : torch::Tensor()};
    const Gradients pulled = equilibrium->pull(context->saved_data["index"].toTensor(), Y, want_X);
    return {pulled.F, want_X ? pulled.X.plain() : torch::Tensor(), torch::Tensor(), torch::Tensor()};
  }
};

}  // namespace

ScaledRows equilibrium(Solver& solver, const torch::Tensor& F, const torch::Tensor& X,
                       const torch::Tensor& index, std::shared_ptr<const Equilibrium> cached) {
  if (!cached) {
    const torch::NoGradGuard guard;
    cached = solver.solve(F, X);
  }
  const auto out = EquilibriumFunction::apply(F, X, index, cached);
  return {out[0], out[1].numel() > 0 ? out[1] : torch::Tensor()};
}

}  // namespace eignn
