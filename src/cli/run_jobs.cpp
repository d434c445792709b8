#include "cli/run_jobs.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "cli/progress.h"
#include "data/atomic_file.h"
#include "eignn/error.h"
#include "eignn/spectrum_cache.h"
#include "run/batched_training.h"
#include "run/child_process.h"
#include "run/train_run.h"
#include "train/assemble.h"
#include "train/config.h"
#include "train/run_batch.h"

namespace eignn::cli {

namespace {

// The data set is read once for the many runs on it.
const Dataset& loaded_once(const TrainConfig& config) {
  static std::string key;
  static Dataset dataset;
  TrainConfig data = config;
  data.split.clear();
  std::string wanted = fmt::format("seed = {}\n", config.seed);  // only what the data depend on
  for (const Field& field : fields(data))
    if (field.group == Field::Group::data) wanted += fmt::format("{} = {}\n", field.name, field.get());
  if (wanted != key) {
    key.clear();
    dataset = load_dataset(config);
    key = wanted;
  }
  return dataset;
}

RunResult train_here(const Job& job, const JobOptions& options) {
  return train_one(job.config, job.folder, is_interrupted_run(job.folder), options.quiet,
                   options.resume_words, &loaded_once(job.config));
}

void drop_model(const std::string& folder) {
  for (const char* file : {"model.safetensors", "predictions.csv"})
    std::filesystem::remove(folder + "/" + file);
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);  // npos + 1 is 0
}

RunResult train_in_child(const Job& job, const JobOptions& options) {
  std::vector<std::string> command = {own_path(), "train", "--json"};
  if (is_interrupted_run(job.folder)) {
    command.insert(command.end(), {"--resume", job.folder});
  } else {
    std::filesystem::create_directories(job.folder);
    const std::string settings = job.folder + "/job.toml";
    write_file_atomically(settings, to_toml(job.config));
    command.insert(command.end(), {"--config", settings, "--out", job.folder});
  }
  const std::string errors = job.folder + "/errors.txt", failure = job.folder + "/failure.txt";
  command.insert(command.end(), {"--failure-file", failure});
  const ChildResult child = run_child(command, "", errors);
  constexpr int interrupted_code = 130;
  if (child.exit_code == interrupted_code)
    throw Interrupted{"interrupted; go on with: " + options.resume_words};
  // The child says when its training did not converge: a search goes on then, and after nothing else.
  if (child.exit_code != 0 && std::filesystem::exists(failure))
    throw ConvergenceError(last_line(read_whole_file(failure)), "", "");
  if (child.exit_code != 0)
    throw ResourceError(fmt::format("a run failed with exit code {}: {}", child.exit_code,
                                    last_line(read_whole_file(errors))),
                        job.folder, fmt::format("see {}", errors));
  for (const auto& file : {job.folder + "/job.toml", errors}) std::filesystem::remove(file);
  return result_from_json(Json::parse(child.output, nullptr, /*allow_exceptions=*/false), job.folder);
}

}  // namespace

RunResult train_one(const TrainConfig& config, const std::string& folder, bool resume, bool quiet,
                    const std::string& resume_words, const Dataset* loaded) {
  Progress progress(config.epochs, quiet);
  TrainHooks hooks;
  hooks.on_epoch = [&](const EpochReport& r) {
    progress.update(r.epoch + 1, fmt::format("loss {:.4f}  validation loss {:.4f} {} {}", r.train_loss,
                                             r.val_loss, r.metric, percent(r.val_score)));
  };
  watch_for_interrupt();
  hooks.interrupted = interrupted;
  SpectrumCache spectra;
  RunResult summary = train(config, folder, resume, hooks, loaded, &spectra);
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

namespace {

// The runs that these jobs ask for, as one batch; Interrupted, when Ctrl-C ended it.
std::vector<BatchedRun> run_batch(const std::vector<Job>& jobs, const JobOptions& options) {
  std::vector<TrainConfig> configs;
  std::vector<std::string> folders;
  for (const Job& job : jobs) {
    if (!job.folder.empty() && !is_interrupted_run(job.folder)) drop_model(job.folder);
    configs.push_back(job.config);
    folders.push_back(job.folder);
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
  SpectrumCache spectra;
  auto runs = train_batch(configs, folders, loaded_once(configs[0]), tell, interrupted, &spectra);
  for (const BatchedRun& run : runs)
    if (run.summary.interrupted && run.failure.empty())
      throw Interrupted{folders[0].empty()
                            ? "interrupted; nothing was kept, since there was no --out"
                            : "interrupted; finished runs are kept, go on with: " + options.resume_words};
  return runs;
}

template <class Act>
void for_each_batch(const std::vector<size_t>& places, int64_t size, const Act& act) {
  for (auto first = places.begin(); first != places.end();) {
    const auto last = first + std::min<std::ptrdiff_t>(size, places.end() - first);
    act(std::vector<size_t>(first, last));
    first = last;
  }
}

std::vector<Job> at_places(const std::vector<Job>& jobs, const std::vector<size_t>& places) {
  std::vector<Job> out;
  for (const size_t k : places) out.push_back(jobs[k]);
  return out;
}

}  // namespace

std::vector<RunResult> run_in_batches(const std::vector<Job>& jobs, int64_t size, const JobOptions& options) {
  std::vector<RunResult> results(jobs.size());
  std::vector<size_t> waiting;
  for (size_t k = 0; k < jobs.size(); ++k)
    if (auto finished = finished_run(jobs[k].folder))
      results[k] = std::move(*finished);
    else
      waiting.push_back(k);
  watch_for_interrupt();
  std::string failure;  // the first; the others are brought to their end
  for_each_batch(waiting, size, [&](const std::vector<size_t>& places) {
    const auto runs = run_batch(at_places(jobs, places), options);
    for (size_t k = 0; k < places.size(); ++k) {
      if (failure.empty()) failure = runs[k].failure;
      results[places[k]] = runs[k].summary;
    }
  });
  if (!failure.empty()) throw ConvergenceError(failure, "", "");
  return results;
}

RunAll in_batches(int64_t size, const JobOptions& options) {
  return [=](const std::vector<Job>& jobs, const OnTrial& on_done) {
    watch_for_interrupt();
    std::vector<Trial> trials(jobs.size());
    std::map<std::string, std::vector<size_t>> groups;  // of jobs that may share a batch
    const auto take = [&](size_t k, const Trial& trial) {
      trials[k] = trial;
      if (on_done) on_done(k, trial);
    };
    for (size_t k = 0; k < jobs.size(); ++k) {
      if (const auto finished = finished_run(jobs[k].folder)) {
        take(k, {*finished, ""});
        continue;
      }
      std::string shared;
      for (const auto& [name, value] : to_strings(jobs[k].config))
        if (settings_of_a_run().count(name) == 0 || name == "seed") shared += name + "=" + value + "\n";
      groups[shared].push_back(k);
    }
    // What cannot be batched is said before hours of work on what can.
    for (const auto& [shared, group] : groups)
      require_batchable(jobs[group[0]].config, loaded_once(jobs[group[0]].config));
    const RunAll alone = each_by_itself(1, job_runner(options));
    for (const auto& [shared, group] : groups) {
      std::vector<size_t> fresh;
      for (const size_t k : group)  // one that was begun by itself is ended so
        if (is_interrupted_run(jobs[k].folder))
          take(k, alone({jobs[k]}, {})[0]);
        else
          fresh.push_back(k);
      for_each_batch(fresh, size, [&](const std::vector<size_t>& places) {
        const auto runs = run_batch(at_places(jobs, places), options);
        for (size_t k = 0; k < places.size(); ++k) {
          if (!options.keep_models) drop_model(jobs[places[k]].folder);
          take(places[k], {runs[k].summary, runs[k].failure});
        }
      });
    }
    return trials;
  };
}

JobRunner job_runner(const JobOptions& options) {
  return [options](const Job& job) {
    const bool children = options.parallel > 1 && !job.folder.empty();
    // A run that was killed while it wrote its last files begins anew.
    if (!job.folder.empty() && !is_interrupted_run(job.folder)) drop_model(job.folder);
    RunResult result = children ? train_in_child(job, options) : train_here(job, options);
    if (!options.keep_models && !job.folder.empty()) drop_model(job.folder);
    return result;
  };
}

}  // namespace eignn::cli
