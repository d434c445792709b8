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
  int64_t resumed_epochs = 0;  // where it is resumed: its new number of epochs; 0: as many as it began with
};

/// Trains a job, from the start or from where it was interrupted; of one that is finished it reads the result
/// (see unless_finished).
using JobRunner = std::function<RunResult(const Job&)>;

/// The result of a job that is finished; nothing when its folder has none. DataError for a summary.json that
/// is damaged, or of a run with other settings than the job's (device, threads and TF32 may differ).
std::optional<RunResult> finished_run(const Job& job);

/// What `train` does with a job that is not finished, and the result of one that is. Either way the folder
/// then has what a single run leaves in it and nothing else (see tidy), also where an earlier process was
/// killed between the two.
JobRunner unless_finished(JobRunner train, bool keep_models);

/// Removes what only a run that is not finished needs: the state to resume from, and the files by which a
/// child process and its parent speak. Without `keep_model` also the model and its predictions.
void tidy(const std::string& folder, bool keep_model);

/// What record_failure() wrote to failure.json of a job that did not converge: the result of such a job of a
/// search. DataError as of finished_run.
std::optional<RecordedFailure> recorded_failure(const Job& job);
void record_failure(const Job& job, const std::string& message, double seconds = 0);

/// Runs the jobs, `parallel` at a time, and returns all results in their order. `on_done` is called after
/// each job, one call at a time. After the first error no further job is started; it is thrown when the
/// running jobs have ended.
std::vector<RunResult> run_jobs(const std::vector<Job>& jobs, int64_t parallel, const JobRunner& runner,
                                const std::function<void(size_t, const RunResult&)>& on_done = {});

/// 0, 1, … for the splits of a data set, or of the one that a configuration names.
std::vector<int64_t> all_splits(const Dataset& data);
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
/// made; it is thrown when the running calls have ended. An error comes before an InterruptedError, which is
/// what the others may end with when they are stopped for its sake.
void in_parallel(size_t count, int64_t parallel, const std::function<void(size_t)>& work);

/// The results of several splits as one object: `runs`, then the mean, the standard deviation and the
/// half-width of the 95 % interval of the test score.
ResultJson summary_of_splits(const std::vector<RunResult>& runs);

/// One figure of each result, such as &RunResult::seconds_per_epoch.
std::vector<double> figures(const std::vector<RunResult>& runs,
                            const std::function<double(const RunResult&)>& figure);
std::vector<double> test_scores(const std::vector<RunResult>& runs);
std::vector<double> validation_scores(const std::vector<RunResult>& runs);
/// Whether the metric of these runs is better when it is higher.
bool higher_is_better(const std::vector<RunResult>& runs);

}  // namespace eignn
