#include "equilibrium/node_operator.h"

#include <torch/torch.h>

#include <cmath>

namespace eignn {

double NodeOperator::norm(const torch::Tensor& Z) const {
  if (rows_here() == rows()) return Z.norm().item<double>();
  return std::sqrt(sum(Z.square().sum(torch::kFloat64)).item<double>());
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
