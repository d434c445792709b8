// The implementation of eignn/train.h, with what resumed runs and sets of runs need.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "eignn/train.h"
#include "train/assemble.h"
#include "train/spread.h"

namespace eignn {

struct RunRequest {
  TrainConfig config;
  std::string folder;   // where the run is kept; empty: not at all
  bool resume = false;  // continue the run in `folder`; the result is that of an uninterrupted run
  TrainHooks hooks = {};
  const Dataset* data = nullptr;  // the prepared data set; null: load_dataset(config) is called
  SpectrumStore* spectra = nullptr;
  int64_t epochs = 0;  // of a resumed run: its new number of epochs; 0: the one that it began with
  /// The processes that train together, each of which makes the same request; null: this one alone. The first
  /// one keeps the run, and its outcome alone is complete.
  const SpreadOptions* spread = nullptr;
};

struct RunOutcome {
  RunResult result;
  std::map<std::string, torch::Tensor> weights;  // that validation chose, so far when interrupted
  std::shared_ptr<const TrainingRecord> record;
};

RunOutcome run_training(const RunRequest& request);

/// The settings of the interrupted run in this folder.
TrainConfig saved_config(const std::string& folder);

/// The result alone.
inline RunResult train(const TrainConfig& config, const std::string& folder = {}, bool resume = false,
                       const TrainHooks& hooks = {}, const Dataset* data = nullptr,
                       SpectrumStore* spectra = nullptr, int64_t epochs = 0,
                       const SpreadOptions* spread = nullptr) {
  return run_training({config, folder, resume, hooks, data, spectra, epochs, spread}).result;
}

}  // namespace eignn
