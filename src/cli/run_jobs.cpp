#include "cli/run_jobs.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/child_process.h"
#include "cli/progress.h"
#include "data/atomic_file.h"
#include "eignn/error.h"
#include "train/config.h"
#include "train/run_batch.h"
#include "train/train_together.h"

namespace eignn::cli {

namespace {

// The data set is read once for the many runs on it.
const Dataset& loaded_once(const TrainConfig& config) {
  static std::string key;
  static Dataset dataset;
  TrainConfig data;  // only what the data depend on
  visit_data(data, [&](const char* name, auto&, const char*) {
    if (std::string(name) != "split") assign(data, name, to_strings(config).at(name));
  });
  data.seed = config.seed;
  if (const std::string wanted = to_toml(data); wanted != key) {
    key.clear();
    dataset = load_dataset(config);
    key = wanted;
  }
  return dataset;
}

Json train_here(const Job& job, const JobOptions& options) {
  const auto summary = train_one(job.config, job.folder, is_interrupted_run(job.folder), options.quiet,
                                 options.resume_words, &loaded_once(job.config));
  return Json::parse(to_json(summary));
}

void drop_model(const std::string& folder) {
  for (const char* file : {"model.safetensors", "predictions.csv"})
    std::filesystem::remove(folder + "/" + file);
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);  // npos + 1 is 0
}

Json train_in_child(const Job& job, const JobOptions& options) {
  std::vector<std::string> command = {own_path(), "train", "--json"};
  if (is_interrupted_run(job.folder)) {
    command.insert(command.end(), {"--resume", job.folder});
  } else {
    std::filesystem::create_directories(job.folder);
    const std::string settings = job.folder + "/job.toml";
    write_file_atomically(settings, to_toml(job.config));
    command.insert(command.end(), {"--config", settings, "--out", job.folder});
  }
  const std::string errors = job.folder + "/errors.txt";
  const ChildResult child = run_child(command, "", errors);
  constexpr int interrupted_code = 130;
  if (child.exit_code == interrupted_code) throw Interrupted{options.resume_words};
  if (child.exit_code != 0)
    throw InputError(fmt::format("a run failed with exit code {}: {} ({}); see {}", child.exit_code,
                                 last_line(read_whole_file(errors)), job.folder, errors));
  for (const auto& file : {job.folder + "/job.toml", errors}) std::filesystem::remove(file);
  return Json::parse(child.output);
}

}  // namespace

TrainSummary train_one(const TrainConfig& config, const std::string& folder, bool resume, bool quiet,
                       const std::string& resume_words, const Dataset* loaded) {
  Progress progress(config.epochs, quiet);
  TrainHooks hooks;
  hooks.on_epoch = [&](const EpochReport& r) {
    progress.update(r.epoch + 1, fmt::format("loss {:.4f}  validation loss {:.4f} {} {}", r.train_loss,
                                             r.val_loss, r.metric, percent(r.val_score)));
  };
  watch_for_interrupt();
  hooks.interrupted = interrupted;
  TrainSummary summary = train(config, folder, resume, hooks, loaded);
  if (!summary.interrupted) return summary;
  throw Interrupted{
      folder.empty() ? fmt::format("interrupted after {} epochs; nothing was kept, since there was no --out",
                                   summary.epochs)
                     : fmt::format("interrupted after {} epochs; go on with: {}", summary.epochs,
                                   resume_words.empty() ? "eignn train --resume " + folder : resume_words)};
}

void check_jobs(int64_t jobs) {
  if (jobs < 1 || jobs > 1024)
    throw UsageError(fmt::format("{} is out of range (--jobs); give 1 to 1024", jobs));
}

std::vector<Json> run_in_batches(const std::vector<Job>& jobs, int64_t size, const JobOptions& options) {
  std::vector<Json> summaries;
  std::vector<size_t> waiting;
  for (const Job& job : jobs) {
    summaries.push_back(finished_summary(job.folder));
    if (summaries.back().is_null()) waiting.push_back(summaries.size() - 1);
  }
  watch_for_interrupt();
  for (size_t first = 0; first < waiting.size(); first += static_cast<size_t>(size)) {
    const size_t end = std::min(waiting.size(), first + static_cast<size_t>(size));
    std::vector<TrainConfig> configs;
    std::vector<std::string> folders;
    for (size_t k = first; k < end; ++k) {
      configs.push_back(jobs[waiting[k]].config);
      folders.push_back(jobs[waiting[k]].folder);
    }
    Progress progress(configs[0].epochs, options.quiet);
    const auto tell = [&](const std::vector<EpochReport>& reports) {
      double loss = 0, score = 0;
      for (const EpochReport& r : reports) {
        loss += r.val_loss / static_cast<double>(reports.size());
        score += r.val_score / static_cast<double>(reports.size());
      }
      progress.update(reports[0].epoch + 1,
                      fmt::format("{} run{}: mean validation loss {:.4f} {} {}", reports.size(),
                                  reports.size() == 1 ? "" : "s", loss, reports[0].metric, percent(score)));
    };
    const auto runs = train_together(configs, folders, loaded_once(configs[0]), tell, interrupted);
    for (size_t k = first; k < end; ++k) {
      const TrainSummary& run = runs[k - first];
      if (run.interrupted)
        throw Interrupted{folders[0].empty()
                              ? "interrupted; nothing was kept, since there was no --out"
                              : "interrupted; finished runs are kept, go on with: " + options.resume_words};
      summaries[waiting[k]] = Json::parse(to_json(run));
    }
  }
  return summaries;
}

RunAll in_batches(int64_t size, const JobOptions& options) {
  return [=](const std::vector<Job>& jobs, const std::function<void(size_t, const Json&)>& on_done) {
    std::map<std::string, std::vector<size_t>> groups;  // of jobs that differ by what is a run's own
    for (size_t k = 0; k < jobs.size(); ++k) {
      std::string shared;
      for (const auto& [name, value] : to_strings(jobs[k].config))
        if (settings_of_a_run().count(name) == 0) shared += name + value + "\n";
      groups[shared].push_back(k);
    }
    std::vector<Json> summaries(jobs.size());
    for (const auto& [shared, group] : groups)
      for (size_t first = 0; first < group.size(); first += static_cast<size_t>(size)) {
        const std::vector<size_t> places(
            group.begin() + static_cast<std::ptrdiff_t>(first),
            group.begin() + static_cast<std::ptrdiff_t>(std::min(group.size(), first + size)));
        std::vector<Job> batch;
        for (const size_t k : places) batch.push_back(jobs[k]);
        std::string failure;
        try {
          run_in_batches(batch, size, options);
        } catch (const InputError& error) {
          failure = error.what();  // of one run at least; the others are in their folders
        }
        for (const size_t k : places) {
          summaries[k] = finished_summary(jobs[k].folder);
          if (summaries[k].is_null()) summaries[k] = {{"failed", failure}};
          if (!options.keep_models) drop_model(jobs[k].folder);
          if (on_done) on_done(k, summaries[k]);
        }
      }
    return summaries;
  };
}

JobRunner job_runner(const JobOptions& options) {
  return [options](const Job& job) {
    const bool children = options.parallel > 1 && !job.folder.empty();
    const Json summary = children ? train_in_child(job, options) : train_here(job, options);
    if (!options.keep_models && !job.folder.empty()) drop_model(job.folder);
    return summary;
  };
}

}  // namespace eignn::cli
