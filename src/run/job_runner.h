// How jobs are run: one after another in this process, several at once in processes of their own, or many of
// them as one batched problem.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "eignn/train.h"
#include "run/search.h"
#include "train/spread.h"

namespace eignn {

struct JobOptions {
  /// Called before each run or batch with the number of its epochs; what it returns is told of every epoch,
  /// with a report for each run of the batch, and goes when the run ends. May be empty.
  using Watch = std::function<void(const std::vector<EpochReport>&)>;
  std::function<Watch(int64_t epochs)> watch;
  std::function<void(const RunStart&)> on_start;  // of each run in this process; may be empty
  std::function<void(const Dataset&)> on_data;    // told of the data of each run or batch in this process
  std::function<bool()> interrupted;  // asked after each epoch; true: save what is under way and stop
  std::function<int()> signal;  // the one that interrupted this process, for its children; 0 or empty: none
  /// The command whose process runs a job beside others, prints its summary.json on standard output and, when
  /// the training does not converge, leaves the message in the file `failure`.
  struct Child {
    std::string folder;    // of the run
    bool resume = false;   // go on with the run in the folder; otherwise begin one
    std::string settings;  // config.toml of a run that begins
    std::string failure;
  };
  std::function<std::vector<std::string>(const Child&)> child;
  int64_t parallel = 1;        // jobs at a time; more than one need folders and `child`
  bool own_processes = false;  // a process for each job, also where one runs at a time
  bool keep_models = true;     // otherwise only config, metrics and summary stay in the folders
  const SpreadOptions* spread =
      nullptr;  // the processes that train each run of this one together; may be null
};

/// One run in this process; `data`, when given, is what load_dataset(config) returns. InterruptedError after
/// `interrupted` said yes, as of all that follow.
RunResult run_here(const Job& job, bool resume, const JobOptions& options, const Dataset* data = nullptr);

/// Runs a job where the options say, or resumes it. A run that a process of its own could not converge throws
/// ConvergenceError here too; whatever else ends that process is a ResourceError.
JobRunner job_runner(const JobOptions& options);

/// Runs the jobs that are not finished, `size` at a time as one batched problem (run/batched_training.h), and
/// returns all results. After a run that fails the others are run to their end; then ConvergenceError.
std::vector<RunResult> run_in_batches(const std::vector<Job>& jobs, int64_t size, const JobOptions& options);

/// For a search: jobs that may share a batch do, `size` at a time. The jobs need folders.
RunAll in_batches(int64_t size, const JobOptions& options);

}  // namespace eignn
