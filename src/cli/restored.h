// A checkpoint's model on a data set: what evaluate and predict begin with.
#pragma once

#include <memory>
#include <string>

#include "cli/flags.h"
#include "eignn/dataset.h"
#include "eignn/execution.h"
#include "eignn/model.h"
#include "eignn/spectrum_cache.h"
#include "eignn/train.h"

namespace eignn::cli {

struct Restored {
  TrainConfig config;  // the training run's, with the flags given now on top
  Dataset dataset;
  int64_t split = 0;
  std::shared_ptr<Model> model;
  std::unique_ptr<SpectrumCache> cache;
  std::unique_ptr<Execution> execution;
};

Restored restore(const CLI::App& command, const SettingFlags& settings, const std::string& checkpoint);

/// On the model's device.
torch::Tensor on_device(const Restored& restored, const torch::Tensor& tensor);

}  // namespace eignn::cli
