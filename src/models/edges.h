// Operations with a weight per arc: attention, and weighted sums whose weights change from step to step.
#pragma once

#include <torch/types.h>

#include "eignn/propagation.h"

namespace eignn {

/// The arcs sorted by receiver: those into node j are the entries begin[j] … begin[j+1]-1.
struct Edges {
  int64_t nodes = 0;
  torch::Tensor begin;                   // int64 (n + 1)
  torch::Tensor sender, receiver;        // int64 (arcs,)
  torch::Tensor sent_begin, sent_entry;  // the same entries by sender
  torch::Tensor value;                   // (arcs, 1): the entries of S
};

/// The arcs of S. With `with_loops` every node has a loop; one that S does not have gets the value 0.
Edges edges_of(const Propagation& S, const torch::TensorOptions& type, bool with_loops = false);

/// α (arcs, heads), the softmax over the arcs of each receiver j of LeakyReLU(from_i + to_j):
/// from, to are (n, heads).
torch::Tensor attention(const Edges& edges, const torch::Tensor& from, const torch::Tensor& to, double slope);

/// Row j is Σ_e α_e z_sender(e), head by head: α (arcs, heads), Z (n, heads, width).
torch::Tensor weighted_sum(const Edges& edges, const torch::Tensor& alpha, const torch::Tensor& Z);

/// Weights (arcs, 1) for the mean over at most `samples` arcs into each node, drawn without replacement; 0:
/// over all of them. float64, on the CPU.
torch::Tensor sampled_mean_weights(const Edges& edges, int64_t samples, at::Generator& generator);

/// The same by libtorch's operations, for other devices and as a reference in tests.
torch::Tensor attention_by_torch(const Edges& edges, const torch::Tensor& from, const torch::Tensor& to,
                                 double slope);
torch::Tensor weighted_sum_by_torch(const Edges& edges, const torch::Tensor& alpha, const torch::Tensor& Z);

}  // namespace eignn
