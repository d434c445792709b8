// Where a run stands between two epochs, and its end: shared by single runs and batches of runs.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "eignn/train.h"
#include "run/run_folder.h"
#include "train/early_stopping.h"
#include "train/trainer.h"

namespace eignn {

/// Where a run stands between two epochs: all that the rest of it depends on.
struct Progress {
  int64_t next_epoch = 0, best_epoch = -1;
  bool finished = false;
  std::map<std::string, torch::Tensor> best;
  std::vector<double> epoch_seconds, step_seconds;
  double seconds = 0;
  int64_t non_converged = 0;  // solves that stopped short before the run was resumed

  void note(const EpochReport& report,
            double step);  // an epoch is over; `step`: seconds of its training step
};

/// What follows an epoch, of a single run as of one in a batch: judges it (and sets `report.kept`), keeps the
/// weights that `state` returns when they are the best so far, and appends the epoch to the folder, if there
/// is one.
EarlyStopping::Verdict record_epoch(EpochReport& report, double step_seconds, const RunFolder* folder,
                                    EarlyStopping& stopping, Progress& progress,
                                    const std::function<std::map<std::string, torch::Tensor>()>& state);

/// The end of a run: tests the best weights, fills the summary and writes the folder, if there is one.
/// `F_start` are the propagation weights that it began with.
void conclude(Trainer& trainer, const Dataset& dataset, const RunFolder* folder, const Progress& progress,
              const std::vector<torch::Tensor>& F_start, double preprocess_seconds, RunResult& summary);

}  // namespace eignn
