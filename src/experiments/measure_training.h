// Times the training of one configuration in this process.
#pragma once

#include "eignn/training.h"

namespace eignn {

struct TrainingMeasurement {
  std::string solver;
  double epoch_ms = 0;      // median training step: forward, backward, Adam; no evaluation
  double preprocess_s = 0;  // from the graph to the first step, spectra not read from disk
  double test_accuracy = 0;
  int64_t accuracy_epochs = 0;  // run for it
  int64_t peak_memory_bytes = 0;
};

/// `steps` training steps are timed after a few to warm up. The accuracy is that of a whole run under the
/// configuration's stopping rule, or, with `accuracy_epochs` > 0, of the same model after that many steps in
/// all: for sides that are too slow for a whole run.
TrainingMeasurement measure_training(const TrainConfig& config, int64_t steps, int64_t accuracy_epochs = 0);

/// Seconds from a data set in memory to a model that is ready to train, with the spectra found in the cache.
double cached_restart_seconds(const TrainConfig& config);

}  // namespace eignn
