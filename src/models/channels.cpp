#include "models/channels.h"

#include <torch/torch.h>

#include <cmath>
#include <utility>

#include "equilibrium/scaled_rows.h"
#include "models/sparse_features.h"

namespace eignn {

std::vector<Channel> channels_of(const EignnOptions& options, size_t directions) {
  std::vector<Channel> out;
  for (size_t d = 0; d < directions; ++d)
    for (const bool from_neighbours : {false, true}) {
      const Source source = from_neighbours ? Source::neighbours : Source::own;
      if (options.source != Source::both && options.source != source) continue;
      for (int64_t k = 0; k < options.equilibria; ++k) out.push_back({d, from_neighbours});
    }
  return out;
}

torch::Tensor starting_F(Start start, int64_t rows, int64_t m, at::Generator generator) {
  const bool thin = rows < m;
  switch (start) {
    case Start::xavier: {  // U(-b, b), b = √(6/(rows+m))
      const double bound = std::sqrt(6.0 / static_cast<double>(rows + m));
      return thin ? torch::empty({m, rows}, torch::kFloat64).uniform_(-bound, bound, generator).t()
                  : torch::empty({m, m}, torch::kFloat64).uniform_(-bound, bound, generator);
    }
    case Start::orthogonal: {  // Q of a Gaussian matrix; with these signs its distribution is uniform
      const auto [Q, R] = torch::linalg_qr(torch::randn({m, rows}, generator, torch::kFloat64), "reduced");
      const auto signed_Q = Q * R.diagonal().sign();
      return thin ? signed_Q.contiguous().t() : signed_Q;
    }
  }
  return {};
}

ChannelGraph::ChannelGraph(GraphPart part, const std::vector<Channel>& channels,
                           const torch::TensorOptions& type) {
  solvers_.push_back(std::move(part.solver));
  for (auto& solver : part.further) solvers_.push_back(std::move(solver));
  products_.resize(solvers_.size());
  for (const Channel& channel : channels)
    if (SharedProduct& product = products_[channel.direction]; channel.from_neighbours && !product)
      product = make_product(solver(channel).propagation(), type);
}

std::vector<torch::Tensor> ChannelGraph::sources(const std::vector<Channel>& channels,
                                                 const torch::Tensor& H) const {
  std::vector<torch::Tensor> out, received(solvers_.size());
  for (const Channel& channel : channels) {
    if (!channel.from_neighbours) {
      out.push_back(H);
      continue;
    }
    torch::Tensor& here = received[channel.direction];
    if (!here.defined())
      here = H.is_sparse() ? gathered_features(solver(channel).propagation(), H)
                           : propagate(products_[channel.direction], H);
    out.push_back(here);
  }
  return out;
}

ScaledRows ChannelGraph::pull_source(const Channel& channel, const ScaledRows& W) const {
  if (!channel.from_neighbours) return W;
  return pulled_through(solver(channel).propagation(), products_[channel.direction], W);
}

ScaledRows pulled_through(const Propagation& S, const SharedProduct& product, const ScaledRows& W) {
  return scatter_scaled(S, *product, W);
}

}  // namespace eignn
