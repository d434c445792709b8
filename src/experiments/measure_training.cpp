#include "experiments/measure_training.h"

#include <torch/torch.h>

#include <algorithm>

#include "equilibrium/stopwatch.h"
#include "train/provenance.h"
#include "train/trainer.h"

namespace eignn {

TrainingMeasurement measure_training(const TrainConfig& config, int64_t steps, int64_t accuracy_epochs) {
  use_threads(config.threads);
  const Dataset dataset = load_dataset(config);
  TrainingMeasurement out;
  {
    Trainer trainer(config, dataset, 0, nullptr);
    out.solver = trainer.model().solver_name();
    out.preprocess_s = trainer.model().preprocess_seconds();
    std::vector<double> seconds;
    constexpr int64_t warm_up = 3;
    for (int64_t k = 0; k < warm_up + steps; ++k) {
      const Stopwatch watch;
      trainer.step(k);
      if (config.device == "cuda") torch::cuda::synchronize();
      if (k >= warm_up) seconds.push_back(watch.seconds());
    }
    std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
    out.epoch_ms = 1e3 * seconds[seconds.size() / 2];
  }
  out.peak_memory_bytes = peak_memory_bytes();
  TrainConfig limited = config;
  limited.epochs = std::min(config.epochs, accuracy_epochs);
  const TrainSummary summary = train(limited);
  out.test_accuracy = summary.accuracy.test;
  out.accuracy_epochs = summary.epochs;
  return out;
}

}  // namespace eignn
