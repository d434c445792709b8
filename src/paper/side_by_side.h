// Trains our solver and the published algorithm in one process and compares the time of an epoch and the
// losses.
#pragma once

#include "eignn/train.h"

namespace eignn {

/// The cost of training with one algorithm.
struct TrainingCost {
  std::string solver;
  double step_ms = 0;       // forward, backward, Adam
  double epoch_ms = 0;      // a step and the evaluation on the validation nodes; they share a solve
  double preprocess_s = 0;  // of the solver, before the first step; no spectrum is read from disk
  double test_score = 0;    // after score_epochs epochs
  int64_t score_epochs = 0;
};

struct SideBySide {
  TrainingCost ours, published;
  int64_t blocks = 0;  // timed for each algorithm
};

struct SideBySideOptions {
  int64_t blocks = 0;        // 0: as many as take published ten seconds, from 3 to 20
  int64_t score_epochs = 1;  // epochs before the test score is computed, at least
};

/// After a warm-up blocks of epochs alternate, and which algorithm comes first alternates too; the figures
/// are medians over the blocks. Both algorithms use the same threads, BLAS and precision.
SideBySide measure_side_by_side(const TrainConfig& ours, const TrainConfig& published, const Dataset& dataset,
                                const SideBySideOptions& options = {});

/// The losses of two configurations from the same initial weights: of each training step and, at the end, of
/// the validation nodes.
struct LossComparison {
  std::vector<double> ours, published;

  std::vector<double> differences() const;  // relative to published
  double largest_difference() const;        // NaN when a loss is NaN
  bool agree() const { return largest_difference() <= 1e-6; }
};

/// Always in float64, so that a difference comes from the algorithms and not from rounding.
LossComparison compare_losses(TrainConfig ours, TrainConfig published, const Dataset& dataset,
                              int64_t epochs);

/// The cost of an epoch when `runs` runs (the splits, then other seeds) are trained as one batch.
struct BatchCost {
  int64_t runs = 0;
  double epoch_ms = 0;      // of one run: that of the batch divided by `runs`
  double preprocess_s = 0;  // of the batch, once
};
BatchCost measure_batch(const TrainConfig& config, const Dataset& dataset, int64_t runs);
/// The losses of the batch's last run and of published, in float64 and without dropout, whose masks a batch
/// draws differently.
LossComparison compare_batch_losses(TrainConfig config, const Dataset& dataset, int64_t runs, int64_t epochs);

/// The peak memory of this process after preparing the configuration and training it for two epochs; needs a
/// process of its own.
int64_t peak_memory_of_training(const TrainConfig& config);

/// Seconds from a data set in memory to a model that is ready to train, with the spectra found in the cache.
double cached_restart_seconds(const TrainConfig& config);

}  // namespace eignn
