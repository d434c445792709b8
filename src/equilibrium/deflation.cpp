#include "equilibrium/deflation.h"

#include <torch/torch.h>

#include <algorithm>
#include <vector>

#include "equilibrium/blas_threads.h"

namespace eignn {

namespace {

constexpr int blocks = 3;
constexpr int64_t most_columns = 16, features_per_column = 16;  // of a block

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

Deflation deflate(const torch::Tensor& gram, const torch::Tensor& scale) {
  const int64_t m = gram.size(0), width = std::min(most_columns, m / features_per_column);
  if (width == 0 || !(gram.diagonal().max().item<double>() > 0)) return {};
  const auto start = torch::randn({m, width}, at::detail::createCPUGenerator(0), torch::kFloat64);
  // Powers of FᵀF/ν on the start: its largest eigenvalue is 1/√m at least, so that they stay in range.
  const auto nu = gram.norm();
  std::vector<torch::Tensor> powers = {start.to(gram.options())};
  for (int power = 0; power < blocks + 1; ++power) powers.push_back(gram.mm(powers.back()) / nu);
  const auto join = [&](int first) {
    return torch::cat(std::vector<torch::Tensor>(powers.begin() + first, powers.begin() + first + blocks), 1);
  };
  const auto Y = join(1), gY = join(2);
  const auto YtY = exact(Y.t().mm(Y)), YtgY = exact(Y.t().mm(gY));
  const SingleThreadedBlas guard;  // matrices of 48 columns: threads would cost more than they do
  const auto C = orthonormaliser(YtY);
  const auto [theta, U] = torch::linalg_eigh(C.t().mm(YtgY).mm(C));
  return {Y.mm(C.mm(U).to(Y.options())), theta.to(Y.options()) * (nu * scale)};
}

}  // namespace eignn
