// Several runs trained as one batch (train/run_batch.h), each with its own stopping, folder and summary.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "eignn/train.h"

namespace eignn {

/// The outcome of one run of a batch.
struct BatchedRun {
  RunResult summary;           // `interrupted` where the run did not come to its end
  std::exception_ptr failure;  // its ConvergenceError; null: the run ended well or was interrupted
};

/// Trains each run as train() would, with two differences: dropout masks are drawn for the whole batch, and
/// the series is accurate relative to the largest entry of Z only (ArgumentError where `auto` would choose
/// `direct` for that reason). `folders` has a folder for each run (empty: it is not kept), or is empty. A run
/// leaves the batch when it finishes and is written at once. On an interruption the unfinished runs are lost
/// and marked as interrupted. A run that does not converge (its loss is not finite) does not affect the
/// others; any other error ends them all: a folder that holds another run, a disk without room.
std::vector<BatchedRun> train_batch(const std::vector<TrainConfig>& configs,
                                    const std::vector<std::string>& folders, const Dataset& dataset,
                                    const std::function<void(const std::vector<EpochReport>&)>& on_epoch = {},
                                    const std::function<bool()>& interrupted = {},
                                    SpectrumStore* spectra = nullptr);

}  // namespace eignn
