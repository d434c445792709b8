// A kept run on a data set: what evaluate, predict and attack begin with.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "eignn/dataset.h"
#include "eignn/execution.h"
#include "eignn/model.h"
#include "eignn/spectrum_cache.h"
#include "eignn/train.h"

namespace eignn {

struct RestoredRun {
  TrainConfig config;  // the training run's, with `settings` on top
  Dataset dataset;     // its features normalised as in training
  int64_t split = 0;
  std::shared_ptr<Model> model;
  std::unique_ptr<SpectrumCache> cache;
  std::unique_ptr<Execution> execution;

  /// On the model's device.
  torch::Tensor on_device(const torch::Tensor& tensor) const;
};

/// `path` is a run folder or its model.safetensors; `settings` (name and text) replace those of the run.
RestoredRun restore_run(const std::string& path, const std::map<std::string, std::string>& settings);

}  // namespace eignn
