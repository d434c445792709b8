#include "run/run_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <thread>

#include "data/atomic_file.h"
#include "data/folder_lock.h"
#include "data/text_lines.h"
#include "eignn/error.h"
#include "eignn/warning.h"
#include "run/recipes.h"
#include "run/statistics.h"
#include "train/assemble.h"
#include "train/config_toml.h"
#include "train/metrics.h"

namespace eignn {

namespace {

// What decides on a run's result, on one machine.
std::map<std::string, std::string> deciding_settings(const TrainConfig& config) {
  auto settings = to_strings(config);
  for (const char* machine : {"device", "threads", "tf32"}) settings.erase(machine);
  return settings;
}

// DataError unless a file that was read from `path` is of a run with the job's settings.
void require_settings(const Job& job, const TrainConfig& found_config, const std::string& path) {
  const auto asked = deciding_settings(job.config), found = deciding_settings(found_config);
  for (const auto& [name, text] : asked)
    if (const auto at = found.find(name); at == found.end() || at->second != text)
      throw DataError(path, name,
                      fmt::format("this is the summary of another run: it has {}, not {}",
                                  at == found.end() ? "no such setting" : quote(at->second), quote(text)),
                      "give another folder, or delete this one to run it again");
}

ResultJson parse_whole(const std::string& path) {
  return ResultJson::parse(read_whole_file(path), nullptr, /*allow_exceptions=*/false);
}

constexpr const char* failure_file = "/failure.json";

}  // namespace

std::optional<RunResult> finished_run(const Job& job) {
  const std::string path = job.folder + "/summary.json";
  if (job.folder.empty() || !std::filesystem::exists(path)) return {};
  RunResult result = result_from_json(parse_whole(path), path);
  require_settings(job, result.config, path);
  return result;
}

std::optional<RecordedFailure> recorded_failure(const Job& job) {
  const std::string path = job.folder + failure_file;
  if (job.folder.empty() || !std::filesystem::exists(path)) return {};
  RecordedFailure recorded = failure_from_json(parse_whole(path), path);
  require_settings(job, recorded.config, path);
  return recorded;
}

void record_failure(const Job& job, const std::string& message, double seconds) {
  if (job.folder.empty()) return;
  make_folders(job.folder);
  write_file_atomically(job.folder + failure_file,
                        failure_json({job.config, message, seconds}).dump(2) + "\n");
  flush_folder(job.folder);
  tidy(job.folder, /*keep_model=*/true);
}

void tidy(const std::string& folder, bool keep_model) {
  if (folder.empty() || !std::filesystem::is_directory(folder)) return;
  std::vector<std::string> scraps = {"job.toml", "errors.txt", "failure.txt", "resume.safetensors"};
  if (!keep_model)
    scraps.insert(scraps.end(), {"model.safetensors", "predictions.csv", "prediction_sets.csv"});
  const auto names = names_in_folder(folder);
  const auto is_scrap = [&](const std::string& name) {
    return name == ".lock" || name.find(".tmp-") != std::string::npos ||
           std::find(scraps.begin(), scraps.end(), name) != scraps.end();
  };
  if (std::none_of(names.begin(), names.end(), is_scrap)) return;
  try {
    const FolderLock lock(folder);  // which removes temporaries, and itself
    for (const std::string& name : scraps) std::remove((folder + "/" + name).c_str());
  } catch (const ResourceError&) {  // a folder that cannot be written, or in which somebody is at work
  }
}

JobRunner unless_finished(JobRunner train, bool keep_models) {
  return [train = std::move(train), keep_models](const Job& job) {
    auto result = finished_run(job);
    if (!result) result = train(job);
    tidy(job.folder, keep_models);
    return std::move(*result);
  };
}

void in_parallel(size_t count, int64_t parallel, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next{0};
  std::mutex failing;
  std::exception_ptr failure, interruption;
  // Warnings of all workers go to the caller's hook, one at a time.
  std::mutex warning;
  const WarningHook hook = warning_hook();
  const auto worker = [&] {
    const WarningScope scope([&](const std::string& message) {
      const std::lock_guard<std::mutex> lock(warning);
      if (hook) hook(message);
    });
    for (size_t k = next++; k < count; k = next++) {
      try {
        work(k);
        continue;
      } catch (const InterruptedError&) {
        const std::lock_guard<std::mutex> lock(failing);
        if (!interruption) interruption = std::current_exception();
      } catch (...) {
        const std::lock_guard<std::mutex> lock(failing);
        if (!failure) failure = std::current_exception();
      }
      next = count;
      return;
    }
  };
  std::vector<std::thread> others;
  for (int64_t t = 1; t < std::min<int64_t>(parallel, static_cast<int64_t>(count)); ++t)
    others.emplace_back(worker);
  worker();
  for (auto& thread : others) thread.join();
  if (failure) std::rethrow_exception(failure);
  if (interruption) std::rethrow_exception(interruption);
}

std::vector<RunResult> run_jobs(const std::vector<Job>& jobs, int64_t parallel, const JobRunner& runner,
                                const std::function<void(size_t, const RunResult&)>& on_done) {
  std::vector<RunResult> results(jobs.size());
  std::mutex reporting;
  in_parallel(jobs.size(), parallel, [&](size_t k) {
    RunResult result = runner(jobs[k]);
    const std::lock_guard<std::mutex> lock(reporting);
    results[k] = std::move(result);
    if (on_done) on_done(k, results[k]);
  });
  return results;
}

std::vector<int64_t> all_splits(const Dataset& data) {
  std::vector<int64_t> splits(data.splits.size());
  std::iota(splits.begin(), splits.end(), 0);
  return splits;
}

std::vector<int64_t> all_splits(const TrainConfig& config) {
  return all_splits(load_raw_dataset(config));
}

std::vector<Job> jobs_of_splits(const TrainConfig& config, const std::vector<int64_t>& splits,
                                const std::string& folder) {
  std::vector<Job> jobs;
  for (const int64_t k : splits) {
    Job job{config, folder.empty() ? "" : fmt::format("{}/split-{}", folder, k)};
    job.config.split = std::to_string(k);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

namespace {

// Makes the folder. Returns whether the file at `path`, which holds the settings of its runs, exists already.
bool is_claimed(const std::string& folder, const std::string& path) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed || !std::filesystem::is_directory(folder))
    throw ResourceError(
        fmt::format("the folder cannot be made: {}", failed ? failed.message() : "it is a file"), folder,
        "give a folder that can be written");
  if (std::filesystem::exists(folder + "/model.safetensors"))
    throw DataError(folder, "", "the folder holds a single run already", "give another folder");
  return std::filesystem::exists(path);
}

[[noreturn]] void refuse_other_settings(const std::string& path) {
  throw DataError(path, "", "the folder holds runs with other settings",
                  "give another folder, or the settings of before");
}

}  // namespace

void claim_folder(const std::string& folder, const std::string& name, const std::string& text) {
  const std::string path = folder + "/" + name;
  if (!is_claimed(folder, path)) return write_file_atomically(path, text);
  if (read_whole_file(path) != text) refuse_other_settings(path);
}

void claim_folder(const std::string& folder, const TrainConfig& config) {
  const std::string path = folder + "/config.toml";
  if (!is_claimed(folder, path)) return write_file_atomically(path, sealed_toml(config));
  TrainConfig before;
  apply_toml(before, read_sealed_toml(path), {}, path);
  if (to_strings(before) != to_strings(config)) refuse_other_settings(path);
}

std::vector<double> figures(const std::vector<RunResult>& runs,
                            const std::function<double(const RunResult&)>& figure) {
  std::vector<double> out;
  for (const RunResult& run : runs) out.push_back(figure(run));
  return out;
}

std::vector<double> test_scores(const std::vector<RunResult>& runs) {
  return figures(runs, [](const RunResult& run) { return run.score.test; });
}

std::vector<double> validation_scores(const std::vector<RunResult>& runs) {
  return figures(runs, [](const RunResult& run) { return run.score.val; });
}

bool higher_is_better(const std::vector<RunResult>& runs) {
  return runs.empty() || higher_is_better(metric_by_name(runs[0].metric));
}

ResultJson summary_of_splits(const std::vector<RunResult>& runs) {
  const std::string key = "test_" + runs.at(0).metric;
  const MeanOfRuns mean = mean_of_runs(test_scores(runs));
  ResultJson out = {{"runs", ResultJson::array()}};
  for (const RunResult& run : runs) out["runs"].push_back(result_json(run));
  out.update({{key + "_mean", mean.mean}, {key + "_std", mean.std}, {key + "_ci95", mean.ci95}});
  return out;
}

}  // namespace eignn
