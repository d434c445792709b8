// Many runs as one piece of work that can be interrupted and gone on with.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "eignn/training.h"

namespace eignn {

using ResultJson = nlohmann::ordered_json;

/// One run: what to train, and the folder that keeps it (none when empty).
struct Job {
  TrainConfig config;
  std::string folder;
};

/// Trains a job, from the start or from where it stopped, and returns its summary.
using JobRunner = std::function<ResultJson(const Job&)>;

/// The summary of a finished run; null when the folder holds none.
ResultJson finished_summary(const std::string& folder);
/// There is something in the folder that --resume goes on with.
bool is_interrupted_run(const std::string& folder);

/// Runs what is not finished yet, `parallel` jobs at a time, and returns all summaries in the jobs' order.
/// `on_done` is called after each, one at a time. The first error ends the set, once the jobs under way have
/// ended.
std::vector<ResultJson> run_jobs(const std::vector<Job>& jobs, int64_t parallel, const JobRunner& runner,
                                 const std::function<void(size_t, const ResultJson&)>& on_done = {});

/// 0, 1, … for the splits of the data set that a configuration names.
std::vector<int64_t> all_splits(const TrainConfig& config);

/// The runs of these splits, in folder/split-K.
std::vector<Job> jobs_of_splits(const TrainConfig& config, const std::vector<int64_t>& splits,
                                const std::string& folder);

/// Makes the folder and writes `text` to the file `name` in it, which says what the folder is for. InputError
/// when it holds another text: results of two settings would be mixed.
void claim_folder(const std::string& folder, const std::string& name, const std::string& text);

/// The same for a folder of runs with these settings, in config.toml. A file of an older version, which knows
/// fewer of them, is held to mean their defaults.
void claim_folder(const std::string& folder, const TrainConfig& config);

/// Calls work(0), …, work(count - 1), `parallel` at a time; the first exception ends it, once those under way
/// have ended.
void in_parallel(size_t count, int64_t parallel, const std::function<void(size_t)>& work);

/// What the summaries of several splits say together: `runs`, then the mean, the standard deviation and the
/// half-width of the 95 % interval of the test figure.
ResultJson summary_of_splits(const std::vector<ResultJson>& runs);

/// "accuracy" or "micro_f1": the metric of a summary.
std::string metric_of(const ResultJson& summary);

/// The figures `key` of all the summaries.
std::vector<double> figures(const std::vector<ResultJson>& runs, const std::string& key);

}  // namespace eignn
