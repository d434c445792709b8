// The state of a run between epochs, and the end of a run; used by single runs and by batches of runs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "eignn/train.h"
#include "run/run_folder.h"
#include "train/early_stopping.h"
#include "train/trainer.h"

namespace eignn {

/// The state of a run between two epochs, besides the model, the optimiser and early stopping.
struct RunState {
  int64_t next_epoch = 0, best_epoch = -1;
  bool finished = false;
  std::map<std::string, torch::Tensor> best;
  std::vector<double> epoch_seconds, step_seconds;
  double seconds = 0;
  int64_t non_converged = 0;  // solves that did not converge before the run was resumed

  void note(const EpochReport& report,
            double step);  // records an epoch; `step`: seconds of its training step
};

/// To be called after each epoch: applies early stopping (and sets `report.kept`), keeps the weights that
/// `state` returns when they are the best so far, and appends the epoch to the folder, if there is one.
EarlyStopping::Verdict record_epoch(EpochReport& report, double step_seconds, RunFolder* folder,
                                    EarlyStopping& stopping, RunState& progress,
                                    const std::function<std::map<std::string, torch::Tensor>()>& state);

/// Ends a run: tests the best weights, fills in the summary and writes the folder, if there is one. `F_start`
/// are the initial propagation weights, `record` is what the checkpoint keeps of the data.
void conclude(Trainer& trainer, const Dataset& dataset, const RunFolder* folder, const RunState& progress,
              const std::vector<torch::Tensor>& F_start, double preprocess_seconds,
              const std::shared_ptr<const TrainingRecord>& record, RunResult& summary);

}  // namespace eignn
