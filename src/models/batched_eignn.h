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

/// The model that make_eignn() makes with the heads plain and l2, for runs that share S and X: run k has the
/// weights F_k and B_k. All shapes are fixed and all memory stays where it is, so that a CUDA graph can
/// replay the calls; hence no autograd, and gradients come from pull().
///
///     model.solve();
///     auto gradients = model.pull(cotangent_of(model.training_scores()));
///     …; model.solve();  // after F and B were changed in place
class BatchedEignn {
 public:
  /// F is (runs, m, m), B (runs, classes, m). ArgumentError for other heads.
  BatchedEignn(std::shared_ptr<const SharedSeries> shared, Head head, double dropout, torch::Tensor F,
               torch::Tensor B);
  ~BatchedEignn();

  torch::Tensor F, B;

  /// Solves for F and B as they are.
  void solve();
  /// (n, runs, classes), of the last solve.
  const torch::Tensor& scores() const { return scores_; }
  /// The same with the dropout mask that was drawn last.
  torch::Tensor training_scores() const;

  struct Gradients {
    torch::Tensor F, B;
  };
  /// For ∂L/∂(training scores).
  Gradients pull(const torch::Tensor& cotangent) const;

  /// Draws the mask of the next training scores from this seed. Not to be captured.
  void draw_dropout(uint64_t seed);

  /// Continues with these runs, by their place in the batch; solve() must follow.
  void keep(const std::vector<int64_t>& places);

 private:
  at::Generator generator_;  // of dropout masks, on the runs' device
  std::unique_ptr<BatchedHead> head_;
  torch::Tensor scores_;
};

}  // namespace eignn
