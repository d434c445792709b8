#include "experiments/measure_training.h"

#include <torch/torch.h>

#include "eignn/spectrum_cache.h"
#include "equilibrium/stopwatch.h"
#include "train/provenance.h"
#include "train/trainer.h"

namespace eignn {

TrainingMeasurement measure_training(const TrainConfig& config, int64_t steps, int64_t accuracy_epochs) {
  use_threads(config.threads);
  const Dataset dataset = load_dataset(config);
  Trainer trainer(config, dataset, 0, nullptr);
  TrainingMeasurement out;
  out.solver = trainer.model().solver_name();
  out.preprocess_s = trainer.model().preprocess_seconds();
  std::vector<double> seconds;
  constexpr int64_t warm_up = 3;
  int64_t epoch = 0;
  for (; epoch < warm_up + steps; ++epoch) {
    const Stopwatch watch;
    trainer.step(epoch);
    if (config.device == "cuda") torch::cuda::synchronize();
    if (epoch >= warm_up) seconds.push_back(watch.seconds());
  }
  out.epoch_ms = 1e3 * median(seconds);
  out.peak_memory_bytes = peak_memory_bytes();

  if (accuracy_epochs == 0) {
    const TrainSummary summary = train(config);
    out.test_accuracy = summary.score.test;
    out.accuracy_epochs = summary.epochs;
    return out;
  }
  for (; epoch < accuracy_epochs; ++epoch) trainer.step(epoch);
  out.accuracy_epochs = epoch;
  out.test_accuracy = trainer.evaluate(trainer.split().test).score;
  return out;
}

double cached_restart_seconds(const TrainConfig& config) {
  use_threads(config.threads);
  const Dataset dataset = load_dataset(config);
  SpectrumCache cache;
  { const Trainer fills_the_cache(config, dataset, 0, &cache); }
  const Stopwatch watch;
  const Trainer trainer(config, dataset, 0, &cache);
  return watch.seconds();
}

}  // namespace eignn
