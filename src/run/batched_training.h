// Several runs trained as one batch (train/run_batch.h), each with its own stopping, folder and summary.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "eignn/train.h"

namespace eignn {

/// What became of one run of a batch.
struct BatchedRun {
  RunResult summary;    // `interrupted` where the run did not come to its end
  std::string failure;  // the error's message; empty when the run ended well or was interrupted
};

/// Trains each run as train() would, with two differences: dropout masks are drawn for the batch, and the
/// series is right relative to the largest entry of Z alone (ArgumentError where `auto` would choose `direct`
/// for that reason). `folders` has one for each run, or is empty. A run leaves the batch when it ends and is
/// written at once. When interrupted, the runs that have not ended are lost, and their summaries say so. A
/// run that fails (its loss is not finite, its folder holds another run) leaves the others alone.
std::vector<BatchedRun> train_batch(const std::vector<TrainConfig>& configs,
                                    const std::vector<std::string>& folders, const Dataset& dataset,
                                    const std::function<void(const std::vector<EpochReport>&)>& on_epoch = {},
                                    const std::function<bool()>& interrupted = {},
                                    SpectrumStore* spectra = nullptr);

}  // namespace eignn
