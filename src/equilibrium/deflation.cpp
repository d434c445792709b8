#include "equilibrium/deflation.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>

namespace eignn {

namespace {

constexpr int64_t most_pairs = 32, features_per_pair = 8;

torch::Tensor exact(const torch::Tensor& small) {
  return small.to(torch::kCPU, torch::kFloat64);
}

// Y C with orthonormal columns, for the C it returns: from the eigenvectors of YᵀY, without the directions in
// which Y has next to nothing.
torch::Tensor orthonormaliser(const torch::Tensor& YtY) {
  const auto d = YtY.diagonal().clamp_min(1e-300).rsqrt();  // columns of unit length first
  const auto [c, E] = torch::linalg_eigh(d.unsqueeze(1) * YtY * d.unsqueeze(0));
  const auto kept = (c > 1e-5 * c.max()).nonzero().squeeze(1);
  return d.unsqueeze(1) * E.index_select(1, kept) * c.index_select(0, kept).rsqrt();
}

}  // namespace

Deflation deflate(const torch::Tensor& gram, const torch::Tensor& scale, const torch::Tensor& last_V) {
  const int64_t m = gram.size(0), k = std::min(most_pairs, m / features_per_pair);
  if (k == 0 || !(gram.diagonal().max().item<double>() > 0)) return {};
  const bool follows = last_V.defined() && last_V.size(0) == m;
  auto Y = follows ? last_V : torch::empty({m, 0}, gram.options());
  if (const int64_t missing = k - Y.size(1);
      missing > 0) {  // at the start, and where the rank was less than k
    const auto random = torch::randn({m, missing}, at::detail::createCPUGenerator(0), torch::kFloat64);
    Y = torch::cat({Y, random.to(gram.options()) / std::sqrt(static_cast<double>(m))}, 1);
  }
  const int steps = follows ? 2 : 4;
  for (int step = 1; step < steps; ++step) Y = gram.mm(Y) * scale;
  // The last product serves both the step and the Ritz values: Yᵀ g Y.
  const auto gY = gram.mm(Y) * scale;
  const auto C = orthonormaliser(exact(Y.t().mm(Y)));
  const auto [theta, U] = torch::linalg_eigh(C.t().mm(exact(Y.t().mm(gY))).mm(C));
  return {Y.mm(C.mm(U).to(Y.options())), theta.to(Y.options())};
}

}  // namespace eignn
