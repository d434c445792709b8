#include "models/channels.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace eignn {

namespace {

// S W for rows with exponents. A row of the result has the exponent of its largest term, so that a signal
// below the range of a double keeps its digits.
ScaledRows product_of_scaled(const Propagation& S, const ScaledRows& W) {
  const auto values = W.values.to(torch::kCPU, torch::kFloat64).contiguous();
  const auto exponents = W.exponents.to(torch::kCPU).contiguous();
  const int64_t m = values.size(1), *e = exponents.data_ptr<int64_t>();
  const double* w = values.data_ptr<double>();
  constexpr int64_t none = std::numeric_limits<int64_t>::min();
  std::vector<int64_t> size(static_cast<size_t>(S.nodes), none);  // the exponent of a row's largest number
  for (int64_t j = 0; j < S.nodes; ++j) {
    double top = 0;
    for (int64_t c = 0; c < m; ++c) top = std::max(top, std::abs(w[j * m + c]));
    if (top > 0) size[j] = e[j] + std::ilogb(top);
  }
  auto out = torch::zeros_like(values);
  auto out_exponents = torch::zeros({S.nodes}, torch::kInt64);
  for (int64_t i = 0; i < S.nodes; ++i) {
    int64_t top = none;
    for (int64_t a = S.row_begin[i]; a < S.row_begin[i + 1]; ++a) top = std::max(top, size[S.column[a]]);
    if (top == none) continue;
    out_exponents.data_ptr<int64_t>()[i] = top;
    double* row = out.data_ptr<double>() + i * m;
    for (int64_t a = S.row_begin[i]; a < S.row_begin[i + 1]; ++a) {
      const int64_t j = S.column[a];
      constexpr int64_t lost = -2000;  // below any digit of the largest term
      if (size[j] == none || size[j] - top < lost) continue;
      const double scale = std::ldexp(S.value(i, a), static_cast<int>(e[j] - top));
      for (int64_t c = 0; c < m; ++c) row[c] += scale * w[j * m + c];
    }
  }
  return {out.to(W.values.options()), out_exponents.to(W.exponents.device())};
}

}  // namespace

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

torch::Tensor starting_F(Start start, int64_t m, at::Generator generator) {
  switch (start) {
    case Start::xavier: {  // U(-b, b), b = √(6/(m+m))
      const double bound = std::sqrt(3.0 / static_cast<double>(m));
      return torch::empty({m, m}, torch::kFloat64).uniform_(-bound, bound, generator);
    }
    case Start::orthogonal: {  // Q of a Gaussian matrix; with these signs its distribution is uniform
      const auto [Q, R] = torch::linalg_qr(torch::randn({m, m}, generator, torch::kFloat64), "reduced");
      return Q * R.diagonal().sign();
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
    if (!here.defined()) here = propagate(products_[channel.direction], H);
    out.push_back(here);
  }
  return out;
}

ScaledRows ChannelGraph::pull_source(const Channel& channel, const ScaledRows& W) const {
  if (!channel.from_neighbours) return W;
  return pulled_through(solver(channel).propagation(), products_[channel.direction], W);
}

ScaledRows pulled_through(const Propagation& S, const SharedProduct& product, const ScaledRows& W) {
  if (W.exponents.defined()) return product_of_scaled(S, W);
  return {product->scatter(W.values), {}};
}

}  // namespace eignn
