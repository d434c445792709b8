// Several runs on one graph, trained as one batched problem. They share S, X and what follows from them; each
// has its own F, B, split, seed and rates.
//
// The whole epoch is arithmetic of fixed shapes, so that a GPU replays it as one graph: (I - γλ g)⁻¹ is a
// Chebyshev series whose length is known beforehand (equilibrium/chebyshev.h), and the series is started at
// the thin side of the problem, so that no n×m equilibrium is ever solved for:
//
//     plain head   f = Q Σ_p α_p(Λ) X̂ (B T_p)ᵀ      a chain of classes×m from B
//     l2 head      Z = Σ_p α_p(S) U (E T_p)          a chain of k×m from X = U E, its k features that are not
//     0
//
// What is left of an epoch is FᵀF, the chain forwards and backwards, and ∇F.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "eignn/train.h"
#include "train/captured.h"

namespace eignn {

/// The settings in which runs of a batch may differ.
const std::set<std::string>& settings_of_a_run();

/// UsageError when runs of this configuration cannot be trained as a batch, or should not: where `auto` would
/// take `direct`, a batch loses the last hops.
void require_batchable(const TrainConfig& config, const Dataset& dataset);

class RunBatch {
 public:
  /// The configurations may differ in split, seed, learning rates and weight decays; the data are one set, so
  /// that a seed moves the start and not the split. UsageError when they differ in more, or ask for what a
  /// batch cannot do (a directed S, other heads, γ = 1).
  RunBatch(const std::vector<TrainConfig>& configs, const Dataset& dataset, SpectrumStore* store);
  ~RunBatch();

  struct Report {
    double train_loss, val_loss, val_score;
  };
  /// One step and one evaluation of every run; reports in the order of the runs.
  std::vector<Report> epoch();

  /// Goes on with these of the runs, by their place in the batch.
  void keep(const std::vector<int64_t>& places);

  /// F and B of a run by name, as a checkpoint has them.
  std::map<std::string, torch::Tensor> state(int64_t place) const;

  int64_t size() const;
  double preprocess_seconds() const { return preprocess_seconds_; }
  static constexpr const char* solver_name = "chebyshev";

 private:
  struct Shared;
  struct Runs;
  class Outputs;
  class PlainOutputs;
  class NormalisedOutputs;

  void work();      // one epoch, on the device
  void evaluate();  // g, its chain, and the scores that follow

  std::unique_ptr<Shared> shared_;
  std::unique_ptr<Runs> runs_;
  std::unique_ptr<Outputs> outputs_;
  std::unique_ptr<Captured> captured_;
  int64_t epoch_ = 0;
  double preprocess_seconds_ = 0;
};

}  // namespace eignn
