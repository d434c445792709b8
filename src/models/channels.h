// The equilibria of one layer, side by side: Z_k = γ g(F_k) Z_k S_k + H P_k for each channel k.
#pragma once

#include <torch/types.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "eignn/model.h"
#include "models/propagate.h"

namespace eignn {

/// Which S an equilibrium has, and where its nodes start from.
struct Channel {
  size_t direction;      // the number of S among the directions of the run
  bool from_neighbours;  // P = S instead of I
};

/// The channels of a layer, by direction, then source, then repetition. This is the order of the states side
/// by side and of the F.
std::vector<Channel> channels_of(const EignnOptions& options, size_t directions);

/// The initial F (rows, m), float64. A thin one, of fewer rows than columns, is column-major: products with
/// the features read its columns.
torch::Tensor starting_F(Start start, int64_t rows, int64_t m, at::Generator generator);

/// A graph as the channels see it: a solver for each direction, and S itself where a channel starts from the
/// neighbours.
class ChannelGraph {
 public:
  ChannelGraph(GraphPart part, const std::vector<Channel>& channels, const torch::TensorOptions& type);

  Solver& solver(const Channel& channel) const { return *solvers_[channel.direction]; }
  const std::vector<std::unique_ptr<Solver>>& solvers() const { return solvers_; }

  /// H P of each channel, node-major: H, or Sᵀ H. Channels that start alike share a tensor.
  std::vector<torch::Tensor> sources(const std::vector<Channel>& channels, const torch::Tensor& H) const;

  /// The adjoint of sources() for one channel: W Pᵀ, node-major W or S W. The rows may carry exponents.
  ScaledRows pull_source(const Channel& channel, const ScaledRows& W) const;

 private:
  std::vector<std::unique_ptr<Solver>> solvers_;
  std::vector<SharedProduct> products_;  // null where no channel starts from the neighbours
};

/// S W for rows that may carry exponents: the adjoint of Sᵀ H. `product` is that of S.
ScaledRows pulled_through(const Propagation& S, const SharedProduct& product, const ScaledRows& W);

}  // namespace eignn
