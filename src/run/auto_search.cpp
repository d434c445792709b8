// Successive halving over a portfolio. Rung 1 gives every candidate a few epochs, rung 2 the better third
// three times as many, rung 3 the best of those all their epochs, with early stopping. Each rung starts its
// runs anew: a run is then the same whatever else was tried, and its folder is that of any run.
//
// With a budget each rung may spend a share of it, and a rung ends when the next candidate's estimate would
// not fit. The time of a run is what it measured itself and kept in its summary, so that an interrupted
// search goes on as it would have.
#include "run/auto_search.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <optional>

#include "data/atomic_file.h"
#include "data/folder_lock.h"
#include "data/toml.h"
#include "eignn/error.h"
#include "equilibrium/stopwatch.h"
#include "equilibrium/torch_errors.h"
#include "graph/statistics.h"
#include "run/disk_estimate.h"
#include "run/portfolio.h"
#include "run/run_folder.h"
#include "run/statistics.h"
#include "train/assemble.h"
#include "train/config_toml.h"
#include "train/metrics.h"
#include "train/trainer.h"

namespace eignn {

namespace {

constexpr int64_t growth = 3;  // of the epochs from rung to rung; a third of the candidates goes on
constexpr double shares[] = {0.35, 0.3};  // of the budget, for rungs 1 and 2
constexpr size_t most_candidates = 90;    // with a budget: more of them would fit validation's noise
constexpr size_t most_in_last_rung = 8;
constexpr double one_trial = 0.05;  // of the budget, at most, for one candidate in rung 1
constexpr double brief = 2;         // seconds that a candidate may take in any case, within the rung's share

struct Racer {
  Candidate candidate;
  AutoTrial trial;
  std::vector<RunResult> runs;  // of its last rung
};

// The mean validation figure with the sign under which more is better; -∞ where there is none.
double goodness(const Racer& racer) {
  constexpr double last = -std::numeric_limits<double>::infinity();
  if (!racer.trial.failure.empty() || racer.runs.empty()) return last;
  const double mean = mean_of_runs(validation_scores(racer.runs)).mean;
  if (std::isnan(mean)) return last;
  return higher_is_better(racer.runs) ? mean : -mean;
}

class Race {
 public:
  Race(const AutoSearch& race, int64_t split_count, bool directed, int64_t features, std::string folder,
       const RunOne& run_one, const OnRung& on_rung)
      : race_(race),
        splits_(split_count),
        folder_(std::move(folder)),
        run_one_(run_one),
        on_rung_(on_rung),
        portfolio_(race.base, race.given, race.models, directed, features) {}

  AutoSearchResult run() {
    first_rung();
    const std::vector<size_t> second = second_rung(ranking(all()));
    const std::vector<size_t> finished = last_rung(ranking(second));
    return concluded(ranking(finished).at(0));
  }

 private:
  bool has_budget() const { return race_.trials == 0; }

  std::vector<size_t> all() const {
    std::vector<size_t> out(racers_.size());
    std::iota(out.begin(), out.end(), size_t{0});
    return out;
  }

  // Best first, without those that are out; of equal ones the earlier.
  std::vector<size_t> ranking(std::vector<size_t> racers) const {
    std::stable_sort(racers.begin(), racers.end(),
                     [&](size_t a, size_t b) { return goodness(racers_[a]) > goodness(racers_[b]); });
    const double out = -std::numeric_limits<double>::infinity();
    while (!racers.empty() && goodness(racers_[racers.back()]) == out) racers.pop_back();
    if (racers.empty()) refuse_all();
    return racers;
  }

  [[noreturn]] void refuse_all() const {
    for (const Racer& racer : racers_)
      if (!racer.trial.failure.empty())
        throw ConvergenceError(
            fmt::format("every candidate of the search failed, the first so: {}", racer.trial.failure), "",
            "give it a larger budget, or lower lr");
    throw ArgumentError("metric", "no candidate has a validation score: the metric is not defined there",
                        "choose another metric, or a split with several classes in validation");
  }

  void first_rung() {
    const double share = shares[0] * race_.budget_seconds,
                 most = has_budget() ? std::max(one_trial * race_.budget_seconds, std::min(brief, share))
                                     : unlimited;
    while (racers_.size() < (has_budget() ? most_candidates : static_cast<size_t>(race_.trials))) {
      if (has_budget() && !racers_.empty() && spent_ >= shares[0] * race_.budget_seconds) break;
      auto candidate = portfolio_.next();
      if (!candidate) break;
      racers_.push_back({std::move(*candidate), {}, {}});
      Racer& racer = racers_.back();
      racer.trial.name = racer.candidate.name;
      racer.trial.settings = racer.candidate.settings;
      run_rung(racers_.size() - 1, 1, epochs_of(racer, 1), most);
    }
  }

  std::vector<size_t> second_rung(const std::vector<size_t>& ranked) {
    const size_t wanted = (ranked.size() + growth - 1) / growth;
    const double end = spent_ + shares[1] * race_.budget_seconds;
    std::vector<size_t> ran;
    for (const size_t k : ranked) {
      if (ran.size() >= wanted) break;
      const int64_t epochs = epochs_of(racers_[k], 2);
      if (has_budget() && !ran.empty() && spent_ + estimate(racers_[k], epochs, judged()) > end) continue;
      run_rung(k, 2, epochs, unlimited);
      if (racers_[k].trial.failure.empty()) ran.push_back(k);
    }
    return ran;
  }

  std::vector<size_t> last_rung(const std::vector<size_t>& ranked) {
    const size_t wanted = has_budget() ? most_in_last_rung : (ranked.size() + growth - 1) / growth;
    std::vector<size_t> ran;
    for (const size_t k : ranked) {
      if (ran.size() >= wanted) break;
      int64_t epochs = racers_[k].candidate.config.epochs;
      if (has_budget()) {
        // The winner runs on the splits that did not judge it, too.
        const double left = race_.budget_seconds - spent_;
        if (!ran.empty() && estimate(racers_[k], epochs, splits_) > left) continue;
        const double whole = estimate(racers_[k], epochs, splits_);
        if (whole > left)
          epochs = std::clamp(static_cast<int64_t>(static_cast<double>(epochs) * std::max(left, 0.0) / whole),
                              std::min(epochs, epochs_of(racers_[k], 2)), epochs);
      }
      racers_[k].candidate.config.epochs = epochs;
      run_rung(k, 3, epochs, unlimited);
      if (racers_[k].trial.failure.empty()) ran.push_back(k);
    }
    return ran;
  }

  int64_t epochs_of(const Racer& racer, int rung) const {
    const int64_t epochs = rung == 1 ? race_.first_epochs : growth * race_.first_epochs;
    return std::min(epochs, racer.candidate.config.epochs);
  }

  int64_t judged() const { return std::min(race_.splits, splits_); }

  // The seconds of so many epochs on so many splits, by the last rung's.
  double estimate(const Racer& racer, int64_t epochs, int64_t splits) const {
    if (racer.runs.empty()) return unlimited;
    double seconds = 0;
    for (const RunResult& run : racer.runs)
      seconds += run.preprocess_seconds + run.seconds_per_epoch * static_cast<double>(epochs);
    return seconds * static_cast<double>(splits) / static_cast<double>(racer.runs.size());
  }

  // Runs a candidate on the judged splits; after a failure it has no runs.
  void run_rung(size_t k, int rung, int64_t epochs, double most_seconds) {
    Racer& racer = racers_[k];
    AutoTrial::Rung record;
    record.epochs = epochs;
    std::vector<RunResult> runs;
    TrainConfig config = racer.candidate.config;
    config.epochs = epochs;
    std::vector<int64_t> splits(judged());
    std::iota(splits.begin(), splits.end(), 0);
    const std::string own = folder_.empty() ? "" : fmt::format("{}/trials/{}/{:03}", folder_, rung, k);
    for (const Job& job : jobs_of_splits(config, splits, own)) {
      const Trial trial = run_one_(job, /*keep_model=*/rung == 3, most_seconds);
      racer.trial.failure = trial.failure;
      const double seconds = trial.failure.empty() ? trial.result.seconds_total : trial.seconds;
      record.seconds += seconds;
      spent_ += seconds;
      if (!trial.failure.empty()) break;
      runs.push_back(trial.result);
    }
    if (racer.trial.failure.empty()) {
      record.val = validation_scores(runs);
      record.seconds_per_epoch = mean_of_runs(figures(runs, &RunResult::seconds_per_epoch)).mean;
    } else {
      runs.clear();
    }
    racer.runs = std::move(runs);
    racer.trial.rungs.push_back(std::move(record));
    if (on_rung_) on_rung_(racer.trial);
  }

  // The winner on all splits: those that judged it are there.
  AutoSearchResult concluded(size_t winner) {
    Racer& best = racers_[winner];
    best.trial.chosen = true;
    AutoSearchResult result;
    result.best = best.candidate.config;
    result.runs = std::move(best.runs);
    std::vector<int64_t> rest(splits_ - static_cast<int64_t>(result.runs.size()));
    std::iota(rest.begin(), rest.end(), static_cast<int64_t>(result.runs.size()));
    const std::string home = folder_.empty() ? "" : folder_ + "/best";
    if (!home.empty()) keep_best(winner, result.best, home);
    for (const Job& job : jobs_of_splits(result.best, rest, home)) {
      Trial trial = run_one_(job, /*keep_model=*/true, unlimited);
      if (!trial.failure.empty())
        throw ConvergenceError(
            fmt::format("the chosen candidate failed on split {}: {}", job.config.split, trial.failure), "",
            "judge by more splits");
      spent_ += trial.result.seconds_total;
      result.runs.push_back(std::move(trial.result));
    }
    for (Racer& racer : racers_) result.trials.push_back(std::move(racer.trial));
    result.seconds = spent_;
    return result;
  }

  // Copies the runs of the last rung into folder/best, whole or not at all; the models of all others go.
  void keep_best(size_t winner, TrainConfig config, const std::string& home) const {
    namespace fs = std::filesystem;
    const auto split_folder = [](const std::string& parent, int64_t split) {
      return fmt::format("{}/split-{}", parent, split);
    };
    const std::string from = fmt::format("{}/trials/3/{:03}", folder_, winner);
    const bool one = splits_ == 1;
    if (!one) {
      config.split = "all";
      make_folders(home);
      claim_folder(home, config);
    }
    for (int64_t k = 0; k < judged(); ++k) {
      const std::string to = one ? home : split_folder(home, k), temporary = to + ".tmp-copy";
      if (fs::exists(to)) continue;
      std::error_code error;
      fs::remove_all(temporary, error);
      fs::copy(split_folder(from, k), temporary, fs::copy_options::recursive, error);
      if (!error) fs::rename(temporary, to, error);
      if (error) refuse_file("copy the best run to", to, error.value());
    }
  }

  static constexpr double unlimited = std::numeric_limits<double>::infinity();

  const AutoSearch& race_;
  int64_t splits_;
  std::string folder_;
  const RunOne& run_one_;
  const OnRung& on_rung_;
  Portfolio portfolio_;
  std::vector<Racer> racers_;
  double spent_ = 0;
};

// One data set with the features of the last candidate: candidates differ in what is done to them.
class PreparedData {
 public:
  explicit PreparedData(const Dataset& raw) : raw_(raw) {}

  const Dataset& operator()(const TrainConfig& config) {
    const bool per_split = features_depend_on_split(raw_, config);
    const std::string wanted = fmt::format("{} {} {} {}", name(config.feature_norm), config.structure,
                                           config.train_graphs, per_split ? config.split : "");
    if (!prepared_ || wanted != key_) prepared_.emplace(prepared(raw_, config));
    key_ = wanted;
    return *prepared_;
  }

 private:
  const Dataset& raw_;
  std::optional<Dataset> prepared_;
  std::string key_;
};

// Refuses data on which validation cannot choose.
void require_validation(const Dataset& raw, const AutoSearch& race) {
  TrainConfig config = race.base;
  config.split = "0";
  split_number(config, raw);  // says why there are no labels or splits
  const Metric metric = resolved_metric(config.metric, raw);
  for (int64_t k = 0; k < race.splits; ++k) {
    const torch::Tensor& val = raw.splits.at(k).val;
    if (val.numel() == 0)
      throw ArgumentError("search",
                          fmt::format("split {} of {} has no validation nodes to choose by", k, raw.name),
                          "give some of the labelled nodes to validation");
    const auto labels = raw.labels.index_select(0, val);
    if (std::isnan(metric_of(metric, torch::zeros({val.numel(), raw.classes}), labels)))
      throw ArgumentError(
          "metric",
          fmt::format("{} is not defined on the {} validation nodes of split {}: they have one class",
                      name(metric), val.numel(), k),
          "choose by another metric, such as accuracy");
  }
}

// What search.toml says: a search that goes on in a folder must be the same.
std::string settings_of(const AutoSearch& race) {
  std::string out = "search = \"auto\"\n";
  out += race.trials > 0 ? fmt::format("trials = {}\n", race.trials)
                         : fmt::format("budget-seconds = {}\n", race.budget_seconds);
  out += fmt::format("splits = {}\nfirst-epochs = {}\nmodels = [", race.splits, race.first_epochs);
  for (size_t k = 0; k < race.models.size(); ++k) out += (k > 0 ? ", " : "") + toml_string(race.models[k]);
  out += "]\n# given, for all candidates:\n";
  const auto texts = to_strings(race.base);
  for (const std::string& setting : race.given)
    if (const auto text = texts.find(setting); text != texts.end())
      out += fmt::format("# {} = {}\n", setting, toml_string(text->second));
  return out + fmt::format("# dataset = {}\n# seed = {}\n", toml_string(race.base.dataset), race.base.seed);
}

}  // namespace

RunOne one_at_a_time(const JobOptions& options, const Dataset& raw) {
  const auto data = std::make_shared<PreparedData>(raw);
  return [options, data](const Job& job, bool keep_model, double most_seconds) -> Trial {
    if (auto finished = finished_run(job)) {
      tidy(job.folder, keep_model);
      return {std::move(*finished), ""};
    }
    if (const auto failed = recorded_failure(job)) return {{}, failed->message, failed->seconds};
    const Stopwatch watch;
    const int64_t epochs = job.config.epochs;
    int64_t done = 0;
    double first_end = 0;  // of the first epoch, which also prepares the solver
    bool too_slow = false;
    JobOptions own = options;
    own.interrupted = [&] {
      if (options.interrupted && options.interrupted()) return true;
      const double now = watch.seconds();
      if (++done == 1) first_end = now;
      constexpr int64_t enough = 4;  // epochs, to say how long the others will take
      const double expected =
          done < enough ? now : first_end + (now - first_end) / (done - 1) * static_cast<double>(epochs - 1);
      too_slow = done < epochs && expected > most_seconds;
      return too_slow;
    };
    std::string failure;
    try {
      Trial trial{run_here(job, is_interrupted_run(job.folder), own, &(*data)(job.config)), ""};
      tidy(job.folder, keep_model);
      return trial;
    } catch (const ConvergenceError& error) {
      failure = error.what();
    } catch (const InterruptedError&) {
      if (!too_slow) throw;
      failure =
          fmt::format("{} epochs take more than {:.3g} s: too slow for this budget", epochs, most_seconds);
    }
    const double seconds = watch.seconds();
    record_failure(job, failure, seconds);
    return {{}, failure, seconds};
  };
}

AutoSearchResult run_auto_search(const AutoSearch& race, const Dataset& raw, const std::string& folder,
                                 const RunOne& run_one, const OnRung& on_rung) {
  const auto split_count = std::max<int64_t>(1, static_cast<int64_t>(raw.splits.size()));
  const auto require = [](bool holds, const char* field, const std::string& problem, const char* remedy) {
    if (!holds) throw ArgumentError(field, problem, remedy);
  };
  require(!race.models.empty(), "models", "there is no model to try", "name one");
  require(race.trials >= 0, "trials", fmt::format("{} is out of range", race.trials), "give 1 or more");
  require(race.trials > 0 || (race.budget_seconds > 0 && std::isfinite(race.budget_seconds)), "budget",
          fmt::format("{} seconds are no time to try anything", race.budget_seconds), "give ten minutes");
  require(race.splits >= 1 && race.splits <= split_count, "splits",
          fmt::format("{} is out of range", race.splits),
          split_count == 1 ? "the data have one split" : "give one or more, and no more than the data have");
  require(race.first_epochs >= 1, "first-epochs", fmt::format("{} is out of range", race.first_epochs),
          "give 1 or more");
  require_validation(raw, race);
  Race runner(race, split_count, !reads_undirected(raw.graph), raw.feature_count(), folder, run_one, on_rung);
  if (folder.empty()) return runner.run();
  make_folders(folder);
  const FolderLock lock(folder);
  claim_folder(folder, "search.toml", settings_of(race));
  // Models are kept of the last rung and the winner alone; the first candidate stands for all.
  const auto first = Portfolio(race.base, race.given, race.models).next();
  if (!first)
    throw ArgumentError("search", "no candidate goes with the settings that were given",
                        "give fewer settings");
  const std::vector<Job> kept(most_in_last_rung + static_cast<size_t>(split_count), {first->config, "", 0});
  require_space_for_runs(folder, kept, raw, {});
  AutoSearchResult result = runner.run();
  write_file_atomically(folder + "/trials.json", trials_json(result.trials).dump(1) + "\n");
  write_file_atomically(folder + "/best.toml", sealed_toml(result.best));
  return result;
}

ResultJson trials_json(const std::vector<AutoTrial>& trials) {
  ResultJson out = ResultJson::array();
  for (const AutoTrial& trial : trials) {
    ResultJson json = {{"name", trial.name}, {"settings", trial.settings}};
    json["rungs"] = ResultJson::array();
    for (const AutoTrial::Rung& rung : trial.rungs) {
      ResultJson record = {{"epochs", rung.epochs}, {"val", rung.val}};
      if (!rung.val.empty()) {
        record["val_mean"] = mean_of_runs(rung.val).mean;
        record["seconds_per_epoch"] = rung.seconds_per_epoch;
      }
      record["seconds"] = rung.seconds;
      json["rungs"].push_back(std::move(record));
    }
    if (!trial.failure.empty()) json["failed"] = trial.failure;
    json["chosen"] = trial.chosen;
    out.push_back(std::move(json));
  }
  return out;
}

namespace {

AutoSearchResult searched(const Dataset& data, const AutoSearch& race, const SearchOptions& options) {
  validate(data);
  AutoSearch on_data = race;
  on_data.base.dataset = data.name;
  JobOptions jobs;
  jobs.interrupted = options.hooks.interrupted;
  jobs.on_start = options.hooks.on_start;
  if (options.hooks.on_epoch)
    jobs.watch = [&](int64_t) -> JobOptions::Watch {
      return [&](const std::vector<EpochReport>& reports) { options.hooks.on_epoch(reports.at(0)); };
    };
  return run_auto_search(on_data, data, options.folder, one_at_a_time(jobs, data));
}

}  // namespace

AutoSearchResult search(const Dataset& data, const AutoSearch& race, const SearchOptions& options) {
  return with_our_errors("search", [&] { return searched(data, race, options); });
}

}  // namespace eignn
