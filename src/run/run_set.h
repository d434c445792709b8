// Sets of runs that can be interrupted and continued.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "eignn/train.h"
#include "run/result_json.h"

namespace eignn {

/// One run: its configuration and its folder (empty: none).
struct Job {
  TrainConfig config;
  std::string folder;
};

/// Trains a job, from the start or from where it was interrupted.
using JobRunner = std::function<RunResult(const Job&)>;

/// The result of a job that is finished; nothing when its folder has none. DataError for a summary.json that
/// is damaged, or of a run with other settings than the job's (device, threads and TF32 may differ).
std::optional<RunResult> finished_run(const Job& job);

/// Runs the jobs that are not finished yet, `parallel` at a time, and returns all results in the jobs' order.
/// `on_done` is called after each job, one call at a time. After the first error no further job is started;
/// it is thrown when the running jobs have ended.
std::vector<RunResult> run_jobs(const std::vector<Job>& jobs, int64_t parallel, const JobRunner& runner,
                                const std::function<void(size_t, const RunResult&)>& on_done = {});

/// 0, 1, … for the splits of the data set that a configuration names.
std::vector<int64_t> all_splits(const TrainConfig& config);

/// The runs of these splits, in folder/split-K.
std::vector<Job> jobs_of_splits(const TrainConfig& config, const std::vector<int64_t>& splits,
                                const std::string& folder);

/// Makes the folder and writes `text`, the settings of its runs, to the file `name` in it. DataError when the
/// file has another text, since results of different settings would be mixed.
void claim_folder(const std::string& folder, const std::string& name, const std::string& text);

/// The same for a folder of runs with these settings, in config.toml. Settings that a file of an older
/// version does not have are taken as their defaults.
void claim_folder(const std::string& folder, const TrainConfig& config);

/// Calls work(0), …, work(count - 1), `parallel` at a time. After the first exception no further call is
/// made; it is thrown when the running calls have ended.
void in_parallel(size_t count, int64_t parallel, const std::function<void(size_t)>& work);

/// The results of several splits as one object: `runs`, then the mean, the standard deviation and the
/// half-width of the 95 % interval of the test score.
ResultJson summary_of_splits(const std::vector<RunResult>& runs);

/// One figure of each result, such as &RunResult::seconds_per_epoch.
std::vector<double> figures(const std::vector<RunResult>& runs,
                            const std::function<double(const RunResult&)>& figure);
std::vector<double> test_scores(const std::vector<RunResult>& runs);
std::vector<double> validation_scores(const std::vector<RunResult>& runs);

}  // namespace eignn
