#include "train/train_together.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "eignn/error.h"
#include "eignn/spectrum_cache.h"
#include "equilibrium/stopwatch.h"
#include "train/config.h"
#include "train/early_stopping.h"
#include "train/run_batch.h"
#include "train/run_folder.h"
#include "train/trainer.h"

namespace eignn {

std::vector<TrainSummary> train_together(const std::vector<TrainConfig>& configs,
                                         const std::vector<std::string>& folders, const Dataset& dataset,
                                         const std::function<void(const std::vector<EpochReport>&)>& on_epoch,
                                         const std::function<bool()>& interrupted) {
  struct Run {
    std::unique_ptr<RunFolder> folder;
    EarlyStopping stopping;
    Progress progress;
    TrainSummary summary;
  };
  for (const TrainConfig& config : configs) validate(config);
  const int64_t threads = use_threads(configs.at(0));
  SpectrumCache cache;
  RunBatch batch(configs, dataset, &cache);
  const Plan plan =
      plan_solver(make_propagation(dataset, configs[0]), dataset.feature_count(), solver_options(configs[0]));
  if (configs[0].solver == "auto" && plan.solver == "direct")
    throw UsageError(
        fmt::format("a batch is right to the largest entry alone, and this graph calls for direct: {} "
                    "(--batch-runs); train the runs one by one, or say --solver krylov",
                    plan.reason));
  std::vector<Run> runs;
  for (size_t k = 0; k < configs.size(); ++k) {
    const TrainConfig& c = configs[k];
    runs.push_back({folders.empty() || folders[k].empty()
                        ? nullptr
                        : std::make_unique<RunFolder>(RunFolder::create(folders[k], c)),
                    EarlyStopping(EarlyStopping::parse(c.stopping), c.patience),
                    {},
                    {}});
    runs[k].summary.config = c;
    runs[k].summary.split = split_number(c, dataset);
    runs[k].summary.threads = threads;
    runs[k].summary.interrupted = true;
  }

  const auto end = [&](Run& run) {
    run.summary.interrupted = false;
    run.summary.solver = RunBatch::solver_name;
    Trainer trainer(run.summary.config, dataset, run.summary.split, &cache);
    const auto F_start = trainer.model().propagation_weights()[0].detach().clone();
    conclude(trainer, dataset, run.folder.get(), run.progress, {F_start}, batch.preprocess_seconds(),
             run.summary);
  };
  std::string failure;  // of the first run that has one; the others are brought to their end

  std::vector<int64_t> live(configs.size());  // the runs in the batch, by place
  std::iota(live.begin(), live.end(), 0);
  for (int64_t epoch = 0; epoch < configs[0].epochs && !live.empty(); ++epoch) {
    const Stopwatch watch;
    const auto reports = batch.epoch();
    const double share = watch.seconds() / static_cast<double>(live.size());
    std::vector<int64_t> going_on;
    std::vector<EpochReport> to_tell;
    for (size_t place = 0; place < live.size(); ++place) {
      Run& run = runs[live[place]];
      if (!std::isfinite(reports[place].train_loss)) {
        if (failure.empty())
          failure = fmt::format(
              "the training loss of split {} is not finite (epoch {}); lower --lr, or use --dtype float64",
              run.summary.split, epoch);
        continue;
      }
      EpochReport report;
      report.epoch = epoch;
      report.train_loss = reports[place].train_loss;
      report.val_loss = reports[place].val_loss;
      report.val_score = reports[place].val_score;
      report.seconds = share;
      const auto verdict = run.stopping.judge(report.val_loss, report.val_score);
      report.kept = verdict.keep;
      if (verdict.keep) {
        run.progress.best = batch.state(static_cast<int64_t>(place));
        run.progress.best_epoch = epoch;
      }
      run.progress.note(report, share);
      if (run.folder) run.folder->append_epoch(report);
      to_tell.push_back(report);
      if (verdict.stop || epoch + 1 == configs[0].epochs)
        end(run);  // at once: what is finished is kept, whatever comes
      else
        going_on.push_back(static_cast<int64_t>(place));
    }
    if (on_epoch && !to_tell.empty()) on_epoch(to_tell);
    if (going_on.size() < live.size()) {
      std::vector<int64_t> left;
      for (const int64_t place : going_on) left.push_back(live[place]);
      live = left;
      if (!live.empty()) batch.keep(going_on);
    }
    if (interrupted && interrupted()) break;
  }

  if (!failure.empty()) throw InputError(failure);
  std::vector<TrainSummary> out;
  for (Run& run : runs) out.push_back(run.summary);
  return out;
}

}  // namespace eignn
