#include "equilibrium/node_operator.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>

namespace eignn {

double NodeOperator::norm(const torch::Tensor& Z) const {
  if (rows_here() == rows()) return Z.norm().item<double>();
  // Some rows at a time: their squares are a matrix of their own.
  constexpr int64_t together = 1 << 14;
  auto squares = torch::zeros({}, torch::dtype(torch::kFloat64).device(Z.device()));
  for (int64_t first = 0; first < Z.size(0); first += together)
    squares += Z.narrow(0, first, std::min(together, Z.size(0) - first)).square().sum(torch::kFloat64);
  return std::sqrt(sum(squares).item<double>());
}

NodeOperator::Squares NodeOperator::advance(bool adjoint, const torch::Tensor& Z, const torch::Tensor& X,
                                            const torch::Tensor& a, const torch::Tensor& omega, int64_t begin,
                                            torch::Tensor& last) const {
  const auto active = [&](const torch::Tensor& t) { return t.narrow(-1, begin, Z.size(1) - begin); };
  const auto z = active(Z), received = propagate(z.contiguous(), adjoint) * active(a),
             r = (X.defined() ? active(X) + received : received) - z;
  auto to = active(last);
  to.add_((r + z - to) * active(omega));
  const auto squares = [&](const torch::Tensor& t) {
    return sum(t.square().sum(0, /*keepdim=*/false, torch::kFloat64)).to(torch::kCPU);
  };
  return {squares(r), squares(z)};
}

}  // namespace eignn
