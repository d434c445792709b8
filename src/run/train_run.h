// One run: the work behind eignn/train.h, for those who resume runs or have many of them.
#pragma once

#include <map>
#include <string>

#include "eignn/train.h"
#include "train/assemble.h"

namespace eignn {

struct RunRequest {
  TrainConfig config;
  std::string folder;   // where the run is kept; empty: nowhere
  bool resume = false;  // go on with the run in `folder`, to the result it would have had
  TrainHooks hooks = {};
  const Dataset* data = nullptr;  // what load_dataset(config) returns, to read it once for many runs
  SpectrumStore* spectra = nullptr;
};

struct RunOutcome {
  RunResult result;
  std::map<std::string, torch::Tensor> weights;  // that validation chose; empty when interrupted
};

RunOutcome run_training(const RunRequest& request);

/// The result alone.
inline RunResult train(const TrainConfig& config, const std::string& folder = {}, bool resume = false,
                       const TrainHooks& hooks = {}, const Dataset* data = nullptr,
                       SpectrumStore* spectra = nullptr) {
  return run_training({config, folder, resume, hooks, data, spectra}).result;
}

}  // namespace eignn
