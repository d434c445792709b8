// Several runs on one graph, trained as one batched problem: they share S, X and what follows from them; each
// has its own F, B, split, seed and rates. models/batched_eignn.h has the model and
// equilibrium/batched_series.h its solver; here is which runs may share a batch, their optimiser, and the
// epoch as a whole, which a GPU replays as one CUDA graph.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "eignn/train.h"
#include "models/batched_eignn.h"
#include "train/adam.h"
#include "train/batched_metrics.h"
#include "train/captured.h"

namespace eignn {

/// The settings in which runs of a batch may differ.
const std::set<std::string>& settings_of_a_run();

/// ArgumentError when runs of this configuration cannot be trained as a batch, or should not: where `auto`
/// would take `direct`, a batch loses the last hops.
void require_batchable(const TrainConfig& config, const Dataset& dataset);

class RunBatch {
 public:
  /// The configurations may differ in split, seed, learning rates and weight decays; the data are one set, so
  /// that a seed moves the start and not the split. ArgumentError when they differ in more, or ask for what a
  /// batch cannot do (a directed S, other heads, γ = 1).
  RunBatch(const std::vector<TrainConfig>& configs, const Dataset& dataset, SpectrumStore* store);
  ~RunBatch();

  struct Report {
    double train_loss, val_loss, val_score;
  };
  /// One step and one evaluation of every run; reports in the order of the runs.
  std::vector<Report> epoch();

  /// Continues with these of the runs, by their place in the batch.
  void keep(const std::vector<int64_t>& places);

  /// F and B of a run by name, as a checkpoint has them.
  std::map<std::string, torch::Tensor> state(int64_t place) const;

  int64_t size() const;
  double preprocess_seconds() const { return preprocess_seconds_; }
  /// The solver whose series this is, by the name that the options know.
  static constexpr const char* solver_name = "krylov";

 private:
  void begin();  // with the runs as they are
  void work();   // one epoch, on the device; captured

  TrainConfig config_;  // of the first run; the settings that are not a run's own are those of all
  std::unique_ptr<BatchedEignn> model_;
  std::unique_ptr<BatchedMetrics> metrics_;
  std::unique_ptr<BatchedAdam> adam_;
  torch::Tensor report_;  // (3, runs): training loss, validation loss, right ones
  std::unique_ptr<Captured> captured_;
  int64_t epoch_ = 0;
  double preprocess_seconds_ = 0;
};

}  // namespace eignn
