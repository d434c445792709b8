#include "run/job_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>
#include <thread>

#include "data/atomic_file.h"
#include "eignn/error.h"
#include "eignn/spectrum_cache.h"
#include "run/batched_training.h"
#include "run/child_process.h"
#include "run/run_folder.h"
#include "run/train_run.h"
#include "train/assemble.h"
#include "train/config_toml.h"
#include "train/run_batch.h"

namespace eignn {

namespace {

// The data set of the last job, since many jobs share one; its features may be scaled by the training nodes
// of each split.
class LoadedOnce {
 public:
  const Dataset& operator()(const TrainConfig& config) {
    TrainConfig data = config;
    data.split.clear();
    std::string wanted = fmt::format("seed = {}\n", config.seed);  // only what the data depend on
    for (const Field& field : fields(data))
      if (field.group == Field::Group::data) wanted += fmt::format("{} = {}\n", field.name, field.get());
    if (wanted != key_) {
      key_.clear();
      raw_ = load_raw_dataset(config);
      per_split_ = features_depend_on_split(raw_, config);
      // Where all splits share their features, the data as they were read are not needed again.
      dataset_ = per_split_ ? prepared(raw_, config) : prepared(std::move(raw_), config);
      key_ = wanted;
      split_ = config.split;
    } else if (per_split_ && config.split != split_) {
      dataset_ = prepared(raw_, config);
      split_ = config.split;
    }
    return dataset_;
  }

 private:
  std::string key_, split_;
  bool per_split_ = false;
  Dataset raw_, dataset_;
};

JobOptions::Watch watch_for(const JobOptions& options, int64_t epochs) {
  return options.watch ? options.watch(epochs) : JobOptions::Watch();
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);  // npos + 1 is 0
}

// The last line that says an error; the last of all where none does.
std::string error_line(const std::string& text) {
  const size_t at = text.rfind("eignn: error: ");
  return at == std::string::npos ? last_line(text) : last_line(text.substr(at, text.find('\n', at) - at));
}

// Why a child ended without a result, in words.
std::string end_in_words(int exit_code, const std::string& errors) {
  if (exit_code > 128)
    return fmt::format("a run was ended by signal {}{}", exit_code - 128,
                       exit_code == 128 + SIGKILL ? ", as the system does when memory runs out" : "");
  return fmt::format("a run failed with exit code {}: {}", exit_code, error_line(read_whole_file(errors)));
}

// Whether a child ended because it was told to: it saved what it had, or the signal came before it could. A
// signal to the whole process group, as of Ctrl-C, may end the child a moment before this process notes it.
bool was_stopped(int exit_code, const std::function<bool()>& stop) {
  constexpr int saved = 130;
  if (exit_code == saved) return true;
  const int signal = exit_code - 128;
  if (signal != SIGTERM && signal != SIGINT && signal != SIGHUP) return false;
  if (stop()) return true;
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return stop();
}

RunResult run_in_child(const Job& job, const JobOptions& options, const std::function<bool()>& stop) {
  const std::string settings = job.folder + "/job.toml", errors = job.folder + "/errors.txt",
                    failure = job.folder + "/failure.txt";
  if (stop()) throw InterruptedError(job.folder);
  const bool resume = is_interrupted_run(job.folder);
  make_folders(job.folder);
  if (!resume) write_file_atomically(settings, to_toml(job.config));
  if (std::remove(failure.c_str()) != 0 && errno != ENOENT)
    refuse_file("remove", failure, errno);  // an earlier try's
  const auto signal = [&] {                 // its own where there is one: another job failed otherwise
    const int received = options.signal ? options.signal() : 0;
    return !stop() ? 0 : received != 0 ? received : SIGTERM;
  };
  const ChildResult child =
      run_child(options.child({job.folder, resume, settings, failure}), "", errors, signal);
  // The child tells when its training did not converge: that is a result of the job, and nothing else is.
  if (child.exit_code == 1 && std::filesystem::exists(failure))
    throw ConvergenceError(last_line(read_whole_file(failure)), "", "");
  auto result = child.exit_code == 0 ? finished_run(job) : std::optional<RunResult>();
  if (result) return std::move(*result);
  if (was_stopped(child.exit_code, stop)) throw InterruptedError(job.folder);
  throw ResourceError(end_in_words(child.exit_code, errors), job.folder,
                      "mend what it says, or run fewer jobs at a time, then give the same command again");
}

}  // namespace

RunResult run_here(const Job& job, bool resume, const JobOptions& options, const Dataset* data) {
  const auto watch = watch_for(options, job.config.epochs);
  TrainHooks hooks;
  if (watch) hooks.on_epoch = [&](const EpochReport& report) { watch({report}); };
  hooks.on_data = options.on_data;
  hooks.interrupted = options.interrupted;
  hooks.on_start = options.on_start;
  SpectrumCache spectra;
  RunResult result =
      train(job.config, job.folder, resume, hooks, data, &spectra, job.resumed_epochs, options.spread);
  if (result.interrupted) throw InterruptedError(job.folder, result.epochs);
  return result;
}

namespace {

// The runs that these jobs ask for, as one batch.
std::vector<BatchedRun> run_batch(const std::vector<Job>& jobs, const JobOptions& options,
                                  const Dataset& data) {
  std::vector<TrainConfig> configs;
  std::vector<std::string> folders;
  for (const Job& job : jobs) {
    configs.push_back(job.config);
    folders.push_back(job.folder);
  }
  if (options.on_data) options.on_data(data);
  SpectrumCache spectra;
  auto runs = train_batch(configs, folders, data, watch_for(options, configs[0].epochs), options.interrupted,
                          &spectra);
  const auto kept =
      std::find_if(folders.begin(), folders.end(), [](const auto& path) { return !path.empty(); });
  for (const BatchedRun& run : runs)
    if (run.summary.interrupted && !run.failure) throw InterruptedError(kept == folders.end() ? "" : *kept);
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

// Only a run that did not converge counts against its point of a search; any other failure ends the search.
Trial trial_of(const BatchedRun& run) {
  try {
    if (run.failure) std::rethrow_exception(run.failure);
    return {run.summary, ""};
  } catch (const ConvergenceError& error) {
    return {run.summary, error.what()};
  }
}

std::optional<RunResult> finished_and_tidied(const Job& job, const JobOptions& options) {
  auto finished = finished_run(job);
  if (finished) tidy(job.folder, options.keep_models);
  return finished;
}

// The jobs of a batch. One that has its result already is trained beside the others once more, in memory:
// dropout masks are drawn for the whole batch, and products round by its size, so that without it the others
// would become other runs than those of a batch that was not interrupted.
std::vector<Job> at_places(const std::vector<Job>& jobs, const std::vector<size_t>& places,
                           const std::vector<bool>& done) {
  std::vector<Job> out;
  for (const size_t k : places) {
    out.push_back(jobs[k]);
    if (done[k]) out.back().folder.clear();
  }
  return out;
}

bool all_done(const std::vector<size_t>& places, const std::vector<bool>& done) {
  return std::all_of(places.begin(), places.end(), [&](size_t k) { return done[k]; });
}

}  // namespace

std::vector<RunResult> run_in_batches(const std::vector<Job>& jobs, int64_t size, const JobOptions& options) {
  std::vector<RunResult> results(jobs.size());
  std::vector<bool> done(jobs.size());
  std::vector<size_t> all;
  for (size_t k = 0; k < jobs.size(); ++k) {
    all.push_back(k);
    if (auto finished = finished_and_tidied(jobs[k], options)) {
      results[k] = std::move(*finished);
      done[k] = true;
    }
  }
  LoadedOnce loaded;
  std::exception_ptr
      failure;  // the first of a run that did not converge; the others are brought to their end
  for_each_batch(all, size, [&](const std::vector<size_t>& places) {
    if (all_done(places, done)) return;
    const auto runs = run_batch(at_places(jobs, places, done), options, loaded(jobs[places[0]].config));
    for (size_t k = 0; k < places.size(); ++k) {
      if (done[places[k]]) continue;
      if (!failure) failure = runs[k].failure;
      results[places[k]] = runs[k].summary;
      tidy(jobs[places[k]].folder, options.keep_models);
    }
  });
  if (failure) std::rethrow_exception(failure);
  return results;
}

RunAll in_batches(int64_t size, const JobOptions& options) {
  return [=](const std::vector<Job>& jobs, const OnTrial& on_done) {
    LoadedOnce loaded;
    std::vector<Trial> trials(jobs.size());
    std::map<std::string, std::vector<size_t>> groups;  // jobs that may share a batch
    std::vector<bool> done(jobs.size());
    const auto take = [&](size_t k, const Trial& trial) {
      trials[k] = trial;
      done[k] = true;
      if (on_done) on_done(k, trial);
    };
    for (size_t k = 0; k < jobs.size(); ++k) {
      if (const auto finished = finished_and_tidied(jobs[k], options))
        take(k, {*finished, ""});
      else if (const auto failed = recorded_failure(jobs[k]))
        take(k, {{}, failed->message});
      std::string shared;
      for (const auto& [name, value] : to_strings(jobs[k].config))
        if (per_run_settings().count(name) == 0 || name == "seed" ||
            (name == "split" && jobs[k].config.feature_norm == FeatureNorm::standard))
          shared += name + "=" + value + "\n";
      groups[shared].push_back(k);
    }
    // Jobs that cannot be batched are refused before hours of work on the others.
    for (const auto& [shared, group] : groups)
      if (!all_done(group, done)) require_batchable(jobs[group[0]].config, loaded(jobs[group[0]].config));
    const RunAll alone = run_individually(1, job_runner(options));
    for (const auto& [shared, group] : groups) {
      for (const size_t k : group)  // a run that was started by itself is also continued by itself
        if (!done[k] && is_interrupted_run(jobs[k].folder)) take(k, alone({jobs[k]}, {})[0]);
      for_each_batch(group, size, [&](const std::vector<size_t>& places) {
        if (all_done(places, done)) return;
        const auto runs = run_batch(at_places(jobs, places, done), options, loaded(jobs[places[0]].config));
        for (size_t k = 0; k < places.size(); ++k) {
          if (done[places[k]]) continue;
          const Job& job = jobs[places[k]];
          const Trial trial = trial_of(runs[k]);
          if (trial.failure.empty())
            tidy(job.folder, options.keep_models);
          else
            record_failure(job, trial.failure);
          take(places[k], trial);
        }
      });
    }
    return trials;
  };
}

JobRunner job_runner(const JobOptions& options) {
  struct Shared {
    LoadedOnce loaded;
    std::atomic<bool> failed{false};  // a job failed for a reason that is not its own: the others are stopped
  };
  const auto train = [options, shared = std::make_shared<Shared>()](const Job& job) {
    const bool apart = options.parallel > 1 || options.own_processes;
    const bool child = apart && !job.folder.empty() && options.child;
    const auto stop = [&] { return shared->failed || (options.interrupted && options.interrupted()); };
    try {
      return child ? run_in_child(job, options, stop)
                   : run_here(job, is_interrupted_run(job.folder), options, &shared->loaded(job.config));
    } catch (const ConvergenceError&) {
      tidy(job.folder, /*keep_model=*/true);
      throw;
    } catch (...) {
      shared->failed = true;
      throw;
    }
  };
  return unless_finished(train, options.keep_models);
}

}  // namespace eignn
