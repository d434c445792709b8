#include "run/run_set.h"

#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <thread>

#include "data/atomic_file.h"
#include "eignn/error.h"
#include "report/statistics.h"
#include "train/config.h"

namespace eignn {

ResultJson finished_summary(const std::string& folder) {
  const std::string path = folder + "/summary.json";
  if (folder.empty() || !std::filesystem::exists(path)) return nullptr;
  ResultJson summary = ResultJson::parse(read_whole_file(path), nullptr, /*allow_exceptions=*/false);
  if (!summary.is_object())
    throw InputError(fmt::format("the summary is damaged ({}); delete the folder to run it again", path));
  return summary;
}

bool is_interrupted_run(const std::string& folder) {
  return !folder.empty() && std::filesystem::exists(folder + "/resume.safetensors");
}

void in_parallel(size_t count, int64_t parallel, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next{0};
  std::mutex failing;
  std::exception_ptr failure;
  const auto worker = [&] {
    for (size_t k = next++; k < count; k = next++) {
      try {
        work(k);
      } catch (...) {
        const std::lock_guard<std::mutex> lock(failing);
        if (!failure) failure = std::current_exception();
        next = count;
        return;
      }
    }
  };
  std::vector<std::thread> others;
  for (int64_t t = 1; t < std::min<int64_t>(parallel, static_cast<int64_t>(count)); ++t)
    others.emplace_back(worker);
  worker();
  for (auto& thread : others) thread.join();
  if (failure) std::rethrow_exception(failure);
}

std::vector<ResultJson> run_jobs(const std::vector<Job>& jobs, int64_t parallel, const JobRunner& runner,
                                 const std::function<void(size_t, const ResultJson&)>& on_done) {
  std::vector<ResultJson> summaries(jobs.size());
  std::mutex reporting;
  in_parallel(jobs.size(), parallel, [&](size_t k) {
    ResultJson summary = finished_summary(jobs[k].folder);
    if (summary.is_null()) summary = runner(jobs[k]);
    const std::lock_guard<std::mutex> lock(reporting);
    summaries[k] = std::move(summary);
    if (on_done) on_done(k, summaries[k]);
  });
  return summaries;
}

std::vector<int64_t> all_splits(const TrainConfig& config) {
  std::vector<int64_t> splits(load_dataset(config).splits.size());
  std::iota(splits.begin(), splits.end(), 0);
  return splits;
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

// Makes the folder; whether the file at `path` in it, which says what it is for, is there already.
bool is_claimed(const std::string& folder, const std::string& path) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed || !std::filesystem::is_directory(folder))
    throw InputError(
        fmt::format("the folder cannot be made: {} ({}); give --out a folder that can be written",
                    failed ? failed.message() : "it is a file", folder));
  if (std::filesystem::exists(folder + "/model.safetensors"))
    throw InputError(fmt::format("the folder holds a single run already ({}); give another --out", folder));
  return std::filesystem::exists(path);
}

[[noreturn]] void refuse_other_settings(const std::string& path) {
  throw InputError(
      fmt::format("the folder holds runs with other settings ({}); give another folder, or the settings of "
                  "before",
                  path));
}

}  // namespace

void claim_folder(const std::string& folder, const std::string& name, const std::string& text) {
  const std::string path = folder + "/" + name;
  if (!is_claimed(folder, path)) return write_file_atomically(path, text);
  if (read_whole_file(path) != text) refuse_other_settings(path);
}

void claim_folder(const std::string& folder, const TrainConfig& config) {
  const std::string path = folder + "/config.toml";
  if (!is_claimed(folder, path)) return write_file_atomically(path, to_toml(config));
  TrainConfig before;
  apply_toml(before, read_whole_file(path), {}, path);
  if (to_strings(before) != to_strings(config)) refuse_other_settings(path);
}

std::string metric_of(const ResultJson& summary) {
  return summary.contains("test_micro_f1") ? "micro_f1" : "accuracy";
}

std::vector<double> figures(const std::vector<ResultJson>& runs, const std::string& key) {
  std::vector<double> out;
  for (const auto& run : runs) out.push_back(run.at(key).get<double>());
  return out;
}

ResultJson summary_of_splits(const std::vector<ResultJson>& runs) {
  const std::string key = "test_" + metric_of(runs.at(0));
  const MeanOfRuns mean = mean_of_runs(figures(runs, key));
  return {{"runs", runs}, {key + "_mean", mean.mean}, {key + "_std", mean.std}, {key + "_ci95", mean.ci95}};
}

}  // namespace eignn
