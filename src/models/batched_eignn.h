// EIGNN for several runs at once.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "eignn/model.h"
#include "equilibrium/batched_series.h"

namespace eignn {

class BatchedHead;

/// Equilibria side by side that start from the same features, and so share a series.
struct BatchedChannels {
  std::shared_ptr<const SharedSeries> shared;
  int64_t count = 1;
};

/// The model of one layer that make_eignn() makes with the heads plain and l2, for runs that share S and X:
/// each run has an F for each of its channels and a B. Shapes and addresses are fixed, so that a CUDA graph
/// can replay the calls. Autograd is not used; gradients come from pull(). Channels are more runs to the
/// series: Z = [Z_1 | Z_2 | …], f = Σ_k Z_k B_kᵀ.
///
///     model.solve();
///     auto gradients = model.pull(cotangent_of(model.training_scores()));
///     …; model.solve();  // after F and B were changed in place
class BatchedEignn {
 public:
  /// F is (runs, channels, rows, m), B (runs, classes, channels · m). ArgumentError for other heads.
  BatchedEignn(const std::vector<BatchedChannels>& channels, Head head, double dropout, torch::Tensor F,
               torch::Tensor B);
  ~BatchedEignn();

  torch::Tensor F, B;

  /// Solves for the current F and B.
  void solve();
  /// (n, runs, classes), of the last solve.
  const torch::Tensor& scores() const { return scores_; }
  /// The same with the dropout mask that was drawn last.
  torch::Tensor training_scores() const;

  struct Gradients {
    torch::Tensor F, B;
  };
  /// The gradients for ∂L/∂(training scores).
  Gradients pull(const torch::Tensor& cotangent) const;

  /// Draws the dropout mask of the next training scores from this seed. Not to be captured in a CUDA graph.
  void draw_dropout(uint64_t seed);

  /// Keeps only these runs, given by their indices in the batch; solve() must follow.
  void keep(const std::vector<int64_t>& places);

 private:
  at::Generator generator_;  // of dropout masks, on the runs' device
  std::unique_ptr<BatchedHead> head_;
  torch::Tensor scores_;
};

}  // namespace eignn
