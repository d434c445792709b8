// Ours and the published algorithm trained beside each other in one process: what an epoch costs each, and
// whether both compute the same.
#pragma once

#include "eignn/train.h"

namespace eignn {

/// What training costs one side.
struct TrainingCost {
  std::string solver;
  double step_ms = 0;       // forward, backward, Adam
  double epoch_ms = 0;      // a step and the evaluation on the validation nodes; they share a solve
  double preprocess_s = 0;  // the solver's, before the first step; no spectrum is read from disk
  double test_score = 0;    // after score_epochs epochs
  int64_t score_epochs = 0;
};

struct SideBySide {
  TrainingCost ours, published;
  int64_t blocks = 0;  // timed on each side
};

struct SideBySideOptions {
  int64_t blocks = 0;        // 0: as many as keep published busy for ten seconds, from 3 to 20
  int64_t score_epochs = 1;  // each side is trained for at least so many before its score is read
};

/// Blocks of epochs alternate after a warm-up, ours first in the one, published first in the next; the
/// figures are medians over the blocks. Both sides share the threads, the BLAS and the precision.
SideBySide measure_side_by_side(const TrainConfig& ours, const TrainConfig& published, const Dataset& dataset,
                                const SideBySideOptions& options = {});

/// The losses of two configurations from the same start: of each training step in turn and, at the end, of
/// the validation nodes.
struct LossComparison {
  std::vector<double> ours, published;

  std::vector<double> differences() const;  // relative to published's
  double largest_difference() const;        // NaN when a loss is
  bool agree() const { return largest_difference() <= 1e-6; }
};

/// In float64, whatever the configurations say: a difference is then one of the algorithms, not of rounding.
LossComparison compare_losses(TrainConfig ours, TrainConfig published, const Dataset& dataset,
                              int64_t epochs);

/// What an epoch costs when `runs` of them (its splits, then other seeds) are trained as one batch.
struct BatchCost {
  int64_t runs = 0;
  double epoch_ms = 0;      // of one run: the batch's, divided by the runs
  double preprocess_s = 0;  // of the batch, once
};
BatchCost measure_batch(const TrainConfig& config, const Dataset& dataset, int64_t runs);
/// Of its last run and of published; in float64, and without dropout, whose masks a batch draws in its own
/// way.
LossComparison compare_batch_losses(TrainConfig config, const Dataset& dataset, int64_t runs, int64_t epochs);

/// The peak of this process after it prepared the configuration and trained it for two epochs; so it wants a
/// process of its own.
int64_t peak_memory_of_training(const TrainConfig& config);

/// Seconds from a data set in memory to a model that is ready to train, with the spectra found in the cache.
double cached_restart_seconds(const TrainConfig& config);

}  // namespace eignn
