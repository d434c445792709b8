#include <fmt/format.h>
#include <torch/torch.h>

#include "eignn/error.h"
#include "eignn/solver.h"
#include "equilibrium/contraction.h"
#include "equilibrium/door.h"
#include "equilibrium/sparse_product.h"

namespace eignn {

namespace {

// Checks the shape and converts to float64 on the CPU; any numeric type and device is accepted.
torch::Tensor in_float64(const torch::Tensor& t, const char* field, int64_t rows, int64_t columns) {
  if (!t.defined() || t.dim() != 2 || t.size(0) != rows || t.size(1) != columns ||
      t.layout() != torch::kStrided ||
      !(t.is_floating_point() || at::isIntegralType(t.scalar_type(), /*includeBool=*/false)))
    throw ArgumentError(field, "it is not a dense matrix of numbers of the right shape",
                        fmt::format("give ({}, {})", rows, columns));
  return t.detach().to(torch::kCPU, torch::kFloat64).contiguous();
}

}  // namespace

double residual(const Propagation& S, const torch::Tensor& Z, const torch::Tensor& F, const torch::Tensor& X,
                double gamma, double epsilon, bool adjoint) {
  check(S);
  const detail::WithoutAutograd mode;
  return with_our_errors("residual", [&] {
    const bool matrix = F.defined() && F.dim() == 2;
    const int64_t m = matrix ? F.size(1) : -1, rows = matrix && F.size(0) <= m ? F.size(0) : m;
    const auto f = in_float64(F, "F", rows, m), z = in_float64(Z, "Z", S.nodes, m),
               x = in_float64(X, "X", S.nodes, m);
    if (z.numel() == 0) return 0.0;
    const SparseProduct product(S, torch::kFloat64, torch::kCPU);
    const auto propagated = adjoint ? product.scatter(z) : product.gather(z);
    const auto gap = (z - gamma * times_g(propagated, f, epsilon) - x).norm().item<double>();
    const double size = x.norm().item<double>();
    return size > 0 ? gap / size : gap;
  });
}

SolveStatus status_of(const Solver& solver, const Equilibrium& solved, const torch::Tensor& F,
                      const torch::Tensor& X) {
  const SolverOptions& o = solver.options();
  return {solver.name(), residual(solver.propagation(), solved.rows().plain(), F, X, o.gamma, o.epsilon),
          solved.iterations(), solved.seconds(), solved.error_bound()};
}

}  // namespace eignn
