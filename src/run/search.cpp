#include "run/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>

#include "data/atomic_file.h"
#include "data/folder_lock.h"
#include "data/text_lines.h"
#include "data/toml.h"
#include "eignn/error.h"
#include "equilibrium/torch_errors.h"
#include "run/recipes.h"
#include "run/run_folder.h"
#include "run/statistics.h"
#include "train/config_toml.h"

namespace eignn {

namespace {

// A grid that no search gets to the end of.
constexpr size_t most_points = 100'000;

int64_t whole(const std::string& text, const TomlSetting& setting, const std::string& origin) {
  int64_t value = -1;
  const char* last = text.data() + text.size();
  const auto result = std::from_chars(text.data(), last, value);
  if (result.ec != std::errc() || result.ptr != last || value < 0)
    throw DataError(origin, setting.place,
                    fmt::format("{} = {} is no whole number, 0 or more", setting.name, quote(text)),
                    "check it");
  return value;
}

// Sets settings that have no effect to their defaults, so that equivalent points compare equal.
TrainConfig canonical(TrainConfig config) {
  if (config.propagation.direction == Direction::undirected && config.further_directions.empty())
    config.propagation.normalise = Normalisation::sym;
  return config;
}

const Trial* first_failure(const std::vector<Trial>& trials) {
  for (const Trial& trial : trials)
    if (!trial.failure.empty()) return &trial;
  return nullptr;
}

std::vector<RunResult> results_of(const std::vector<Trial>& trials) {
  std::vector<RunResult> out;
  for (const Trial& trial : trials) out.push_back(trial.result);
  return out;
}

std::vector<double> validation(const std::vector<Trial>& trials) {
  return first_failure(trials) ? std::vector<double>() : validation_scores(results_of(trials));
}

// The mean validation figure, errors with their sign turned; a point that failed comes after all others.
double mean_goodness(const std::vector<Trial>& trials) {
  constexpr double last = -std::numeric_limits<double>::infinity();
  if (first_failure(trials)) return last;
  const double mean = mean_of_runs(validation(trials)).mean;
  if (std::isnan(mean)) return last;
  return higher_is_better(results_of(trials)) ? mean : -mean;
}

struct RankedPoint {
  size_t point;
  double goodness;
};

// Best first; of equal points the one that comes first in the grid.
std::vector<RankedPoint> ranking(const std::vector<size_t>& points,
                                 const std::vector<std::vector<Trial>>& runs) {
  std::vector<RankedPoint> out;
  for (const size_t p : points) out.push_back({p, mean_goodness(runs[p])});
  std::stable_sort(out.begin(), out.end(),
                   [](const RankedPoint& a, const RankedPoint& b) { return a.goodness > b.goodness; });
  return out;
}

}  // namespace

SearchPlan parse_search(const std::string& toml, const TrainConfig& base, const std::set<std::string>& given,
                        const std::string& origin) {
  SearchPlan plan;
  plan.points = {base};
  for (const TomlSetting& setting : parse_toml_settings(toml, origin)) {
    const std::string& name = setting.name;
    if (setting.values.empty())
      throw DataError(origin, setting.place, fmt::format("'{}' has no values", name), "give a list");
    if (is_config_format(setting, origin)) continue;
    if (name == "splits") {
      for (const auto& text : setting.values) plan.splits.push_back(whole(text, setting, origin));
      continue;
    }
    if (name == "finalists") {
      plan.finalists = whole(setting.single(origin), setting, origin);
      continue;
    }
    if (name == "screening-epochs") {
      plan.screening_epochs = whole(setting.single(origin), setting, origin);
      continue;
    }
    if (given.count(name)) continue;
    if (setting.values.size() > 1) plan.varied.push_back(name);
    if (setting.values.size() * plan.points.size() > most_points)
      throw DataError(
          origin, setting.place,
          fmt::format("with the values of '{}' the grid has more than {} points", name, most_points),
          "give shorter lists");
    std::vector<TrainConfig> wider;
    for (const TrainConfig& point : plan.points)
      for (const auto& value : setting.values) {
        wider.push_back(point);
        assign_or_refuse(wider.back(), name, value, origin, setting.place);
      }
    plan.points = std::move(wider);
  }
  // The seed draws which half of the validation nodes calibrates: another seed would let the search see it.
  const auto is_conformal = [](const TrainConfig& point) { return point.conformal > 0; };
  if (std::find(plan.varied.begin(), plan.varied.end(), "seed") != plan.varied.end() &&
      std::any_of(plan.points.begin(), plan.points.end(), is_conformal))
    throw DataError(origin, "seed",
                    "the seed draws the calibration nodes of conformal, and a search over it would see them",
                    "leave seed out of the grid, or conformal out of the settings");
  if (plan.screening_epochs > 0 && plan.finalists == 0)
    throw DataError(origin, "screening-epochs",
                    "screening-epochs shortens a first judgement, and there is no second",
                    "give finalists too");
  std::set<std::string> seen;
  std::vector<TrainConfig> distinct;
  for (const TrainConfig& point : plan.points)
    if (seen.insert(to_toml(canonical(point))).second) distinct.push_back(canonical(point));
  plan.points = std::move(distinct);
  try {
    for (const TrainConfig& point : plan.points) validate(point);
  } catch (const ArgumentError& error) {  // the file is wrong, not the caller's arguments
    throw DataError(origin, error.field(), error.problem(), error.remedy());
  }
  return plan;
}

RunAll run_individually(int64_t parallel, const JobRunner& runner) {
  return [=](const std::vector<Job>& jobs, const OnTrial& on_done) {
    std::vector<Trial> trials(jobs.size());
    std::mutex reporting;
    in_parallel(jobs.size(), parallel, [&](size_t k) {
      Trial trial;
      if (const auto failure = recorded_failure(jobs[k])) {
        trial.failure = failure->message;
      } else {
        try {
          trial.result = runner(jobs[k]);
        } catch (const ConvergenceError& error) {
          trial.failure = error.what();
          record_failure(jobs[k], trial.failure);
        }
      }
      const std::lock_guard<std::mutex> lock(reporting);
      trials[k] = std::move(trial);
      if (on_done) on_done(k, trials[k]);
    });
    return trials;
  };
}

namespace {

std::vector<int64_t> first_splits(const SearchPlan& plan, int64_t split_count) {
  if (!plan.splits.empty()) return plan.splits;
  std::vector<int64_t> every(static_cast<size_t>(split_count));
  std::iota(every.begin(), every.end(), 0);
  return every;
}

// The runs of some points, those of a shortened first judgement in folders of their own.
std::vector<Job> jobs_of_points(const SearchPlan& plan, const std::vector<size_t>& points,
                                const std::vector<int64_t>& splits, int64_t epochs,
                                const std::string& folder) {
  std::vector<Job> jobs;
  for (const size_t p : points) {
    TrainConfig point = plan.points[p];
    if (epochs > 0) point.epochs = std::min(point.epochs, epochs);
    const char* stage = epochs > 0 ? "screening" : "trials";
    const std::string own = folder.empty() ? "" : fmt::format("{}/{}/{:03}", folder, stage, p);
    for (Job& job : jobs_of_splits(point, splits, own)) jobs.push_back(std::move(job));
  }
  return jobs;
}

// How long the first judgement's runs are; 0: to their end.
int64_t screening_epochs(const SearchPlan& plan) {
  return plan.finalists > 0 ? plan.screening_epochs : 0;
}

std::vector<size_t> all_points(const SearchPlan& plan) {
  std::vector<size_t> all(plan.points.size());
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

}  // namespace

void require_space_for_search(const SearchPlan& plan, const Dataset& raw, const std::string& folder,
                              const ManyRuns& how) {
  const auto split_count = static_cast<int64_t>(raw.splits.size());
  const auto some = first_splits(plan, split_count);
  const auto first = jobs_of_points(plan, all_points(plan), some, screening_epochs(plan), folder);
  const int64_t finalists = std::min(plan.finalists, static_cast<int64_t>(plan.points.size()));
  const int64_t judged = screening_epochs(plan) > 0 ? 0 : static_cast<int64_t>(some.size());
  require_space_for_runs(folder, first, raw, how, finalists * std::max<int64_t>(0, split_count - judged));
}

namespace {

SearchResult search_in(const SearchPlan& plan, int64_t split_count, const std::string& folder,
                       const RunAll& run_all,
                       const std::function<void(size_t, size_t, const Trial&)>& on_done) {
  std::vector<int64_t> every(split_count);
  std::iota(every.begin(), every.end(), 0);
  const std::vector<int64_t> some = first_splits(plan, split_count);
  for (const int64_t k : some)
    if (k >= split_count)
      throw ArgumentError("splits", fmt::format("the data set has no split {}", k),
                          fmt::format("it has {}, numbered from 0", split_count));

  std::vector<std::vector<Trial>> runs(plan.points.size());
  const auto run_round = [&](const std::vector<size_t>& points, const std::vector<int64_t>& splits,
                             int64_t epochs) {
    const std::vector<Job> jobs = jobs_of_points(plan, points, splits, epochs, folder);
    size_t done = 0;
    const auto trials = run_all(jobs, [&](size_t, const Trial& trial) {
      if (on_done) on_done(++done, jobs.size(), trial);
    });
    for (size_t k = 0; k < points.size(); ++k) {
      const auto first = trials.begin() + static_cast<std::ptrdiff_t>(k * splits.size());
      runs[points[k]].assign(first, first + static_cast<std::ptrdiff_t>(splits.size()));
    }
    return ranking(points, runs);
  };

  const bool screening = screening_epochs(plan) > 0;
  const std::vector<size_t> all = all_points(plan);
  auto ranked = run_round(all, some, screening_epochs(plan));
  std::map<size_t, std::vector<double>> first_judgement;
  for (const size_t p : all) first_judgement[p] = validation(runs[p]);
  const auto in_final = static_cast<size_t>(plan.finalists);
  std::set<size_t> finalists;
  if (in_final > 0 && (some != every || screening)) {
    for (size_t k = 0; k < std::min(in_final, ranked.size()); ++k) finalists.insert(ranked[k].point);
    ranked = run_round({finalists.begin(), finalists.end()}, every, 0);
  }

  if (const Trial* failure = first_failure(runs[ranked[0].point]))
    throw ConvergenceError(
        fmt::format("every point of the search failed, the first so: {}", failure->failure), "", "");
  SearchResult result;
  for (const size_t p : all) {
    const auto settings = to_strings(plan.points[p]);
    SearchTrial trial;
    trial.point = p;
    for (const auto& name : plan.varied) trial.settings[name] = settings.at(name);
    trial.splits = some;
    trial.val = first_judgement[p];
    if (const Trial* failure = first_failure(runs[p])) {
      trial.failure = failure->failure;
    } else {
      if (finalists.count(p)) trial.final_val = validation(runs[p]);
      const auto results = results_of(runs[p]);
      trial.epochs = figures(results, [](const RunResult& run) { return double(run.epochs); });
      trial.seconds_per_epoch = figures(results, &RunResult::seconds_per_epoch);
    }
    trial.chosen = p == ranked[0].point;
    result.trials.push_back(std::move(trial));
  }
  result.best = plan.points[ranked[0].point];
  result.runs = results_of(runs[ranked[0].point]);
  return result;
}

}  // namespace

SearchResult run_search(const SearchPlan& plan, int64_t split_count, const std::string& folder,
                        const RunAll& run_all,
                        const std::function<void(size_t, size_t, const Trial&)>& on_done,
                        const std::string& settings) {
  if (folder.empty()) return search_in(plan, split_count, folder, run_all, on_done);
  make_folders(folder);
  const FolderLock lock(folder);
  if (!settings.empty()) claim_folder(folder, "search.toml", settings);
  SearchResult result = search_in(plan, split_count, folder, run_all, on_done);
  write_file_atomically(folder + "/trials.json", trials_json(result.trials).dump(1) + "\n");
  write_file_atomically(folder + "/best.toml", sealed_toml(result.best));
  return result;
}

ResultJson trials_json(const std::vector<SearchTrial>& trials) {
  ResultJson out = ResultJson::array();
  for (const SearchTrial& trial : trials) {
    ResultJson json = {{"point", trial.point}, {"settings", trial.settings}, {"splits", trial.splits}};
    json["val"] = trial.val;
    if (!trial.val.empty()) json["val_mean"] = mean_of_runs(trial.val).mean;
    if (!trial.final_val.empty()) {
      json["final_val"] = trial.final_val;
      json["final_val_mean"] = mean_of_runs(trial.final_val).mean;
    }
    if (!trial.failure.empty()) {
      json["failed"] = trial.failure;
    } else {
      json["epochs"] = trial.epochs;
      json["seconds_per_epoch"] = trial.seconds_per_epoch;
    }
    json["chosen"] = trial.chosen;
    out.push_back(std::move(json));
  }
  return out;
}

namespace {

SearchResult searched(const Dataset& data, const SearchPlan& plan, const SearchOptions& options) {
  if (plan.points.empty())
    throw ArgumentError("plan", "there is no point to try", "make the plan with parse_search");
  validate(data);
  SearchPlan on_data = plan;
  for (TrainConfig& point : on_data.points) point.dataset = data.name;
  require_space_for_search(on_data, data, options.folder, {});
  const auto train_job = [&](const Job& job) {
    TrainOptions run = TrainOptions{}.hooks(options.hooks);
    run.config = job.config;
    is_interrupted_run(job.folder) ? run.resume(job.folder) : run.folder(job.folder);
    RunResult result = train(data, run).result;
    if (result.interrupted) throw InterruptedError(job.folder, result.epochs);
    return result;
  };
  return run_search(on_data, static_cast<int64_t>(data.splits.size()), options.folder,
                    run_individually(1, unless_finished(train_job, /*keep_models=*/true)), {});
}

}  // namespace

SearchResult search(const Dataset& data, const SearchPlan& plan, const SearchOptions& options) {
  return with_our_errors("search", [&] { return searched(data, plan, options); });
}

}  // namespace eignn
