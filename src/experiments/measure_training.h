// Times the training of one configuration in this process.
#pragma once

#include "eignn/training.h"

namespace eignn {

struct TrainingMeasurement {
  std::string solver;
  double epoch_ms = 0;       // median training step: forward, backward, Adam; no evaluation
  double preprocess_s = 0;   // from the graph to the first step, spectra not read from disk
  double test_accuracy = 0;  // after a run of at most accuracy_epochs under the recipe's stopping rule
  int64_t accuracy_epochs = 0;
  int64_t peak_memory_bytes = 0;
};

/// `steps` training steps are timed after a few to warm up.
TrainingMeasurement measure_training(const TrainConfig& config, int64_t steps, int64_t accuracy_epochs);

}  // namespace eignn
