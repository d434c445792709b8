#include <torch/torch.h>

#include "eignn/solver.h"
#include "equilibrium/contraction.h"
#include "equilibrium/sparse_product.h"

namespace eignn {

double residual(const Propagation& S, const torch::Tensor& Z, const torch::Tensor& F, const torch::Tensor& X,
                double gamma, double epsilon, bool adjoint) {
  const torch::NoGradGuard guard;
  const auto exact = [](const torch::Tensor& t) { return t.detach().to(torch::kCPU, torch::kFloat64); };
  const auto z = exact(Z), x = exact(X);
  const SparseProduct product(S, torch::kFloat64, torch::kCPU);
  const auto propagated = adjoint ? product.scatter(z) : product.gather(z);
  const auto gap =
      (z - gamma * propagated.mm(Contraction(exact(F), gamma, epsilon).g()) - x).norm().item<double>();
  const double size = x.norm().item<double>();
  return size > 0 ? gap / size : gap;
}

SolveStatus status_of(const Solver& solver, const Equilibrium& solved, const torch::Tensor& F,
                      const torch::Tensor& X) {
  const SolverOptions& o = solver.options();
  return {solver.name(), residual(solver.propagation(), solved.rows().plain(), F, X, o.gamma, o.epsilon),
          solved.iterations, solved.seconds};
}

}  // namespace eignn
