#include "paper/side_by_side.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "eignn/execution.h"
#include "eignn/spectrum_cache.h"
#include "equilibrium/stopwatch.h"
#include "run/provenance.h"
#include "train/assemble.h"
#include "train/run_batch.h"
#include "train/torch_settings.h"
#include "train/trainer.h"

namespace eignn {

namespace {

// Synchronises with the GPU, whose work continues after a call returns.
template <class Work>
double seconds_of(const TrainConfig& config, Work work) {
  const bool on_gpu = torch_device(config.device).is_cuda();
  const auto synchronise = [&] {
    if (on_gpu) torch::cuda::synchronize();
  };
  synchronise();
  const Stopwatch watch;
  work();
  synchronise();
  return watch.seconds();
}

// One of the two algorithms: its trainer and the times of its epochs.
class Side {
 public:
  Side(const TrainConfig& config, const Dataset& dataset) : config_(config) {
    // A short preprocessing is timed several times.
    constexpr double short_enough = 0.1;
    std::vector<double> seconds;
    do {
      trainer_ = nullptr;  // freed first: two would need twice the memory
      trainer_ = std::make_unique<Trainer>(config_, dataset, split_number(config_, dataset), nullptr);
      seconds.push_back(trainer_->model().preprocess_seconds());
    } while (seconds[0] < short_enough && seconds.size() < 5);
    cost_.solver = trainer_->model().solver_name();
    cost_.preprocess_s = median(seconds);
  }

  // The first epochs of an iterative solver are the slowest, while g has no few dominant eigenvalues yet.
  void warm_up() {
    constexpr int enough = 10;
    constexpr double seconds = 10;
    const Stopwatch watch;
    for (int k = 0; k < enough && (k == 0 || watch.seconds() < seconds); ++k)
      epoch_seconds_ = run_epoch().epoch;
  }

  // Long enough that the cache contents left by the other side do not matter.
  double block_seconds() const { return std::max(0.1, epoch_seconds_); }

  void run_block() {
    const auto epochs = static_cast<int64_t>(block_seconds() / epoch_seconds_);
    std::vector<double> step, epoch;
    for (int64_t k = 0; k < epochs; ++k) {
      const Seconds seconds = run_epoch();
      step.push_back(seconds.step);
      epoch.push_back(seconds.epoch);
    }
    step_of_block_.push_back(median(step));
    epoch_of_block_.push_back(median(epoch));
  }

  void train_until(int64_t epochs) {
    while (epochs_ < epochs) trainer_->step(epochs_++);
  }

  TrainingCost cost() {
    cost_.step_ms = 1e3 * median(step_of_block_);
    cost_.epoch_ms = 1e3 * median(epoch_of_block_);
    cost_.test_score = trainer_->evaluate(trainer_->split().test).score;
    cost_.score_epochs = epochs_;
    return cost_;
  }

 private:
  struct Seconds {
    double step, epoch;
  };

  // One epoch as in training, where a step reuses the solve of the evaluation before it. The time of that
  // solve is the difference to a second evaluation of the same weights, and counts for the step.
  Seconds run_epoch() {
    const auto evaluate = [&] { trainer_->evaluate(trainer_->split().val); };
    const double step = seconds_of(config_, [&] { trainer_->step(epochs_++); });
    const double evaluation = seconds_of(config_, evaluate), again = seconds_of(config_, evaluate);
    const bool shared = config_.eignn().solver != "published";  // published solves again in the step
    return {step + (shared ? std::max(0.0, evaluation - again) : 0), step + evaluation};
  }

  TrainConfig config_;
  std::unique_ptr<Trainer> trainer_;
  TrainingCost cost_;
  int64_t epochs_ = 0;
  double epoch_seconds_ = 0;  // of the last epoch of the warm-up
  std::vector<double> step_of_block_, epoch_of_block_;
};

std::vector<TrainConfig> batch_configs(const TrainConfig& config, const Dataset& dataset, int64_t runs) {
  std::vector<TrainConfig> configs(runs, config);
  const int64_t splits = static_cast<int64_t>(dataset.splits.size()), first = split_number(config, dataset);
  for (int64_t k = 0; k < runs; ++k) {
    configs[k].split = std::to_string((first + k) % splits);
    configs[k].seed += static_cast<uint64_t>(k / splits);
  }
  return configs;
}

// The training losses of `epochs` steps, then the validation loss after them.
std::vector<double> losses(const TrainConfig& config, const Dataset& dataset, int64_t epochs) {
  Trainer trainer(config, dataset, split_number(config, dataset), nullptr);
  std::vector<double> out;
  for (int64_t epoch = 0; epoch < epochs; ++epoch) out.push_back(trainer.step(epoch));
  out.push_back(trainer.evaluate(trainer.split().val).loss);
  return out;
}

}  // namespace

SideBySide measure_side_by_side(const TrainConfig& ours, const TrainConfig& published, const Dataset& dataset,
                                const SideBySideOptions& options) {
  const Execution execution(ours);
  Side our_side(ours, dataset), their_side(published, dataset);
  our_side.warm_up();
  their_side.warm_up();
  SideBySide out;
  constexpr double busy_seconds = 10;
  out.blocks = options.blocks;
  if (out.blocks == 0)
    out.blocks =
        std::clamp(static_cast<int64_t>(busy_seconds / their_side.block_seconds()), int64_t{3}, int64_t{20});
  for (int64_t block = 0; block < out.blocks; ++block) {
    Side& first = block % 2 == 0 ? our_side : their_side;
    Side& second = block % 2 == 0 ? their_side : our_side;
    first.run_block();
    second.run_block();
  }
  for (Side* side : {&our_side, &their_side}) side->train_until(options.score_epochs);
  out.ours = our_side.cost();
  out.published = their_side.cost();
  return out;
}

std::vector<double> LossComparison::differences() const {
  std::vector<double> out;
  for (size_t k = 0; k < ours.size(); ++k)
    out.push_back(std::abs(ours[k] - published[k]) / std::abs(published[k]));
  return out;
}

double LossComparison::largest_difference() const {
  double largest = 0;
  for (const double d : differences()) {
    if (std::isnan(d)) return d;
    largest = std::max(largest, d);
  }
  return largest;
}

LossComparison compare_losses(TrainConfig ours, TrainConfig published, const Dataset& dataset,
                              int64_t epochs) {
  const Execution execution(ours);
  ours.dtype = published.dtype = Precision::float64;
  return {losses(ours, dataset, epochs), losses(published, dataset, epochs)};
}

BatchCost measure_batch(const TrainConfig& config, const Dataset& dataset, int64_t runs) {
  const Execution execution(config);
  RunBatch batch(batch_configs(config, dataset, runs), dataset, nullptr);
  constexpr int warm_up = 10, least = 5, most = 200;
  constexpr double enough_seconds = 5;
  for (int k = 0; k < warm_up; ++k) batch.epoch();
  std::vector<double> seconds;
  const Stopwatch watch;
  while (static_cast<int>(seconds.size()) < least ||
         (static_cast<int>(seconds.size()) < most && watch.seconds() < enough_seconds))
    seconds.push_back(seconds_of(config, [&] { batch.epoch(); }));
  return {runs, 1e3 * median(seconds) / static_cast<double>(runs), batch.preprocess_seconds()};
}

LossComparison compare_batch_losses(TrainConfig config, const Dataset& dataset, int64_t runs,
                                    int64_t epochs) {
  const Execution execution(config);
  config.dtype = Precision::float64;
  config.eignn().dropout = 0;
  LossComparison out;
  {
    const auto configs = batch_configs(config, dataset, runs);
    RunBatch batch(configs, dataset, nullptr);
    RunBatch::Report last{};
    for (int64_t epoch = 0; epoch < epochs; ++epoch) {
      last = batch.epoch().back();
      out.ours.push_back(last.train_loss);
    }
    out.ours.push_back(last.val_loss);
    config = configs.back();
  }
  config.eignn().solver = "published";
  out.published = losses(config, dataset, epochs);
  return out;
}

int64_t peak_memory_of_training(const TrainConfig& config) {
  const Execution execution(config);
  const Dataset dataset = load_dataset(config);
  losses(config, dataset, 2);
  return peak_memory_bytes();
}

double cached_restart_seconds(const TrainConfig& config) {
  const Execution execution(config);
  const Dataset dataset = load_dataset(config);
  SpectrumCache cache;
  { const Trainer fills_the_cache(config, dataset, 0, &cache); }
  const Stopwatch watch;
  const Trainer trainer(config, dataset, 0, &cache);
  return watch.seconds();
}

}  // namespace eignn
