// Whole runs as one batch: stopping, folders, summaries.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "eignn/train.h"

namespace eignn {

/// A run of a batch.
struct TogetherRun {
  RunResult summary;    // `interrupted` where it did not come to its end
  std::string failure;  // why it did not; empty when it did, or was interrupted
};

/// Trains the runs together, each as train() would, apart from its dropout masks and the precision of a
/// solver that `auto` would choose for the last hop: UsageError where that is `direct`. `folders` has one
/// each, or none at all. A run leaves the batch when it ends, and is kept at once. When interrupted, the runs
/// under way are lost, and their summaries say so. A run that fails (a loss that is not finite, a folder that
/// holds another run) leaves the others alone.
std::vector<TogetherRun> train_together(
    const std::vector<TrainConfig>& configs, const std::vector<std::string>& folders, const Dataset& dataset,
    const std::function<void(const std::vector<EpochReport>&)>& on_epoch = {},
    const std::function<bool()>& interrupted = {});

}  // namespace eignn
