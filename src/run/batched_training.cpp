#include "run/batched_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "data/disk_space.h"
#include "eignn/error.h"
#include "eignn/execution.h"
#include "equilibrium/stopwatch.h"
#include "run/conclude.h"
#include "run/disk_estimate.h"
#include "run/run_folder.h"
#include "run/training_record.h"
#include "train/early_stopping.h"
#include "train/run_batch.h"
#include "train/thin_data.h"
#include "train/trainer.h"

namespace eignn {

namespace {

struct Run {
  std::unique_ptr<RunFolder> folder;
  EarlyStopping stopping;
  RunState progress;
  BatchedRun result;
};

Run start(const TrainConfig& config, const std::string& folder, const Dataset& dataset, int64_t threads) {
  Run run{nullptr, EarlyStopping(config.stopping, config.patience), {}, {}};
  run.result.summary.config = config;
  run.result.summary.split = split_number(config, dataset);
  run.result.summary.columns = dataset.report;
  run.result.summary.threads = threads;
  run.result.summary.interrupted = true;
  if (!folder.empty()) run.folder = std::make_unique<RunFolder>(RunFolder::create(folder, config));
  return run;
}

}  // namespace

std::vector<BatchedRun> train_batch(const std::vector<TrainConfig>& configs,
                                    const std::vector<std::string>& folders, const Dataset& dataset,
                                    const std::function<void(const std::vector<EpochReport>&)>& on_epoch,
                                    const std::function<bool()>& interrupted, SpectrumStore* spectra) {
  for (const TrainConfig& config : configs) validate(config);
  const Execution execution(configs.at(0));
  const int64_t threads = execution.threads();
  require_batchable(configs[0], dataset);
  require_same_features(configs, dataset);
  std::vector<Run> runs;
  std::vector<int64_t> live;  // the index in `runs` of each run still in the batch
  for (size_t k = 0; k < configs.size(); ++k) {
    runs.push_back(start(configs[k], folders.empty() ? "" : folders[k], dataset, threads));
    live.push_back(static_cast<int64_t>(k));
  }
  const auto results = [&] {
    std::vector<BatchedRun> out;
    for (Run& run : runs) out.push_back(run.result);
    return out;
  };
  RunBatch batch(configs, dataset, spectra);
  int64_t parameters = 0;  // of a run
  for (const auto& [name, tensor] : batch.state(0)) parameters += tensor.numel();
  for (const Run& run : runs)
    warn_of_thin_data(dataset, dataset.splits[run.result.summary.split], run.result.summary.config,
                      parameters);
  const auto kept =
      std::find_if(folders.begin(), folders.end(), [](const auto& path) { return !path.empty(); });
  if (kept != folders.end()) {
    const RunBytes one = bytes_of_run(bytes_of(batch.state(0)), dataset, configs[0]);
    const auto count = std::count_if(kept, folders.end(), [](const auto& path) { return !path.empty(); });
    require_space(*kept, static_cast<double>(count) * (one.small + one.model), "the batch");
  }

  const auto end = [&](Run& run) {
    RunResult& summary = run.result.summary;
    summary.solver = RunBatch::solver_name;
    Trainer trainer(summary.config, dataset, summary.split, spectra);
    std::vector<torch::Tensor> F_start;
    for (const auto& F : trainer.model().propagation_weights()) F_start.push_back(F.detach().clone());
    try {
      const auto record =
          std::make_shared<const TrainingRecord>(record_of(dataset, dataset.splits[summary.split]));
      conclude(trainer, dataset, run.folder.get(), run.progress, F_start, batch.preprocess_seconds(), record,
               summary);
      summary.interrupted = false;
    } catch (const ConvergenceError&) {
      run.result.failure = std::current_exception();
    }
  };

  for (int64_t epoch = 0; epoch < configs[0].epochs && !live.empty(); ++epoch) {
    const Stopwatch watch;
    const auto reports = batch.epoch();
    const double share = watch.seconds() / static_cast<double>(live.size());
    std::vector<int64_t> continuing;
    std::vector<EpochReport> reports_of_epoch;
    for (size_t place = 0; place < live.size(); ++place) {
      Run& run = runs[live[place]];
      if (!std::isfinite(reports[place].train_loss)) {
        run.result.failure = std::make_exception_ptr(ConvergenceError(
            fmt::format("the training loss of split {} is not finite", run.result.summary.split),
            fmt::format("epoch {}", epoch), "lower lr, or use dtype float64"));
        continue;
      }
      EpochReport report;
      report.epoch = epoch;
      report.train_loss = reports[place].train_loss;
      report.val_loss = reports[place].val_loss;
      report.val_score = reports[place].val_score;
      report.seconds = share;
      const auto verdict = record_epoch(report, share, run.folder.get(), run.stopping, run.progress,
                                        [&] { return batch.state(static_cast<int64_t>(place)); });
      reports_of_epoch.push_back(report);
      if (verdict.stop || epoch + 1 == configs[0].epochs)
        end(run);  // written at once, so that an interruption does not lose it
      else
        continuing.push_back(static_cast<int64_t>(place));
    }
    if (on_epoch && !reports_of_epoch.empty()) on_epoch(reports_of_epoch);
    if (continuing.size() < live.size()) {
      std::vector<int64_t> left;
      for (const int64_t place : continuing) left.push_back(live[place]);
      live = left;
      if (!live.empty()) batch.keep(continuing);
    }
    if (interrupted && interrupted()) break;
  }
  return results();
}

}  // namespace eignn
