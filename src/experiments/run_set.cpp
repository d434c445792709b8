#include "experiments/run_set.h"

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

std::vector<ResultJson> run_jobs(const std::vector<Job>& jobs, int64_t parallel, const JobRunner& runner,
                                 const std::function<void(size_t, const ResultJson&)>& on_done) {
  std::vector<ResultJson> summaries(jobs.size());
  std::atomic<size_t> next{0};
  std::mutex reporting;
  std::exception_ptr failure;
  const auto work = [&] {
    for (size_t k = next++; k < jobs.size(); k = next++) {
      ResultJson summary;
      try {
        summary = finished_summary(jobs[k].folder);
        if (summary.is_null()) summary = runner(jobs[k]);
      } catch (...) {
        const std::lock_guard<std::mutex> lock(reporting);
        if (!failure) failure = std::current_exception();
        next = jobs.size();
        return;
      }
      const std::lock_guard<std::mutex> lock(reporting);
      summaries[k] = std::move(summary);
      if (on_done) on_done(k, summaries[k]);
    }
  };
  std::vector<std::thread> others;
  for (int64_t t = 1; t < std::min<int64_t>(parallel, static_cast<int64_t>(jobs.size())); ++t)
    others.emplace_back(work);
  work();
  for (auto& thread : others) thread.join();
  if (failure) std::rethrow_exception(failure);
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

void claim_folder(const std::string& folder, const std::string& name, const std::string& text) {
  const std::string path = folder + "/" + name;
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed || !std::filesystem::is_directory(folder))
    throw InputError(
        fmt::format("the folder cannot be made: {} ({}); give --out a folder that can be written",
                    failed ? failed.message() : "it is a file", folder));
  if (std::filesystem::exists(folder + "/model.safetensors"))
    throw InputError(fmt::format("the folder holds a single run already ({}); give another --out", folder));
  if (!std::filesystem::exists(path)) return write_file_atomically(path, text);
  if (read_whole_file(path) != text)
    throw InputError(
        fmt::format("the folder holds runs with other settings ({}); give another folder, or the settings of "
                    "before",
                    path));
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
