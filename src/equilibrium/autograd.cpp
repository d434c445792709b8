// The equilibrium as a node of libtorch's graph: its backward is the solver's own adjoint.
#include <torch/torch.h>

#include "eignn/solver.h"
#include "equilibrium/tf32.h"

namespace eignn {

namespace {

// What the backward pass needs, besides the gradient that arrives.
struct Solved : torch::CustomClassHolder {
  std::shared_ptr<const Equilibrium> equilibrium;
  torch::Tensor index;      // undefined: all nodes
  torch::Tensor exponents;  // undefined: all zero
  bool want_X = false;
};

class EquilibriumFunction : public torch::autograd::Function<EquilibriumFunction> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& /*F*/,
                               const torch::Tensor& X, const c10::intrusive_ptr<Solved>& solved) {
    const ProductsInTf32 in_full(false);
    ScaledRows rows = solved->equilibrium->rows(solved->index);
    solved->exponents = rows.exponents;
    solved->want_X = X.requires_grad();
    context->saved_data["solved"] = c10::IValue::make_capsule(solved);
    return rows.values;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto capsule = context->saved_data["solved"].toCapsule();
    const auto& solved = static_cast<Solved&>(*capsule);
    // Z = values · 2^E, so ∂L/∂Z = ∂L/∂values · 2^-E
    const ScaledRows Y{gradients[0].contiguous(),
                       solved.exponents.defined() ? -solved.exponents : torch::Tensor()};
    const ProductsInTf32 in_full(false);
    const Gradients pulled = solved.equilibrium->pull(solved.index, Y, solved.want_X);
    return {pulled.F, solved.want_X ? pulled.X.plain() : torch::Tensor(), torch::Tensor()};
  }
};

}  // namespace

ScaledRows equilibrium(Solver& solver, const torch::Tensor& F, const torch::Tensor& X,
                       const torch::Tensor& index, std::shared_ptr<const Equilibrium> cached) {
  if (!cached) {
    const torch::NoGradGuard guard;
    const ProductsInTf32 in_full(false);
    cached = solver.solve(F, X);
  }
  auto solved = c10::make_intrusive<Solved>();
  solved->equilibrium = std::move(cached);
  solved->index = index;
  const auto values = EquilibriumFunction::apply(F, X, solved);
  return {values, solved->exponents};
}

}  // namespace eignn
