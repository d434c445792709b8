// Many runs as one piece of work that can be interrupted and gone on with.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "eignn/train.h"
#include "run/result_json.h"

namespace eignn {

/// One run: what to train, and the folder that keeps it (none when empty).
struct Job {
  TrainConfig config;
  std::string folder;
};

/// Trains a job, from the start or from where it stopped.
using JobRunner = std::function<RunResult(const Job&)>;

/// The result of a finished run; nothing when the folder holds none.
std::optional<RunResult> finished_run(const std::string& folder);
/// There is something in the folder that --resume goes on with.
bool is_interrupted_run(const std::string& folder);

/// Runs what is not finished yet, `parallel` jobs at a time, and returns all results in the jobs' order.
/// `on_done` is called after each, one at a time. The first error ends the set, once the jobs under way have
/// ended.
std::vector<RunResult> run_jobs(const std::vector<Job>& jobs, int64_t parallel, const JobRunner& runner,
                                const std::function<void(size_t, const RunResult&)>& on_done = {});

/// 0, 1, … for the splits of the data set that a configuration names.
std::vector<int64_t> all_splits(const TrainConfig& config);

/// The runs of these splits, in folder/split-K.
std::vector<Job> jobs_of_splits(const TrainConfig& config, const std::vector<int64_t>& splits,
                                const std::string& folder);

/// Makes the folder and writes `text` to the file `name` in it, which says what the folder is for. DataError
/// when it holds another text: results of two settings would be mixed.
void claim_folder(const std::string& folder, const std::string& name, const std::string& text);

/// The same for a folder of runs with these settings, in config.toml. A file of an older version, which knows
/// fewer of them, is held to mean their defaults.
void claim_folder(const std::string& folder, const TrainConfig& config);

/// Calls work(0), …, work(count - 1), `parallel` at a time; the first exception ends it, once those under way
/// have ended.
void in_parallel(size_t count, int64_t parallel, const std::function<void(size_t)>& work);

/// What the results of several splits say together: `runs`, then the mean, the standard deviation and the
/// half-width of the 95 % interval of the test figure.
ResultJson summary_of_splits(const std::vector<RunResult>& runs);

/// One figure of each result, such as &RunResult::seconds_per_epoch.
std::vector<double> figures(const std::vector<RunResult>& runs,
                            const std::function<double(const RunResult&)>& figure);
std::vector<double> test_scores(const std::vector<RunResult>& runs);
std::vector<double> validation_scores(const std::vector<RunResult>& runs);

}  // namespace eignn
