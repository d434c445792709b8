// How the commands run jobs: one after another in this process, or several at once in processes of their own.
#pragma once

#include "cli/common.h"
#include "eignn/train.h"
#include "run/search.h"

namespace eignn::cli {

struct JobOptions {
  int64_t parallel = 1;      // jobs at a time
  bool quiet = false;        // no progress
  bool keep_models = true;   // else only config, metrics and summary stay in the folders
  std::string resume_words;  // "go on with: …", said when interrupted
};

/// UsageError when --jobs is out of range.
void check_jobs(int64_t jobs);

/// Interrupted, when Ctrl-C ended a job.
JobRunner job_runner(const JobOptions& options);

/// Runs the jobs that are not finished, `size` at a time as one batched problem (run/batched_training.h),
/// and returns all results. Interrupted, when Ctrl-C ended one; what is finished then stays.
std::vector<RunResult> run_in_batches(const std::vector<Job>& jobs, int64_t size, const JobOptions& options);

/// For a search: jobs that may share a batch do, `size` at a time. The jobs need folders.
RunAll in_batches(int64_t size, const JobOptions& options);

/// One run in this process, with its progress.
RunResult train_one(const TrainConfig& config, const std::string& folder, bool resume, bool quiet,
                    const std::string& resume_words = {}, const Dataset* loaded = nullptr);

}  // namespace eignn::cli
