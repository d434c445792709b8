#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "cli/cluster.h"
#include "cli/flags.h"
#include "cli/jobs.h"
#include "cluster/launched.h"
#include "data/atomic_file.h"
#include "data/folder_lock.h"
#include "data/text_lines.h"
#include "eignn/error.h"
#include "eignn/warning.h"
#include "report/columns_table.h"
#include "report/error_bound.h"
#include "report/table.h"
#include "run/auto_search.h"
#include "run/disk_estimate.h"
#include "run/own_rule.h"
#include "run/recipes.h"
#include "run/result_json.h"
#include "run/run_folder.h"
#include "run/search.h"
#include "run/statistics.h"
#include "train/assemble.h"
#include "train/config_toml.h"
#include "train/metrics.h"

namespace eignn::cli {

namespace {

// What stands beside the score: the other metrics of the test nodes, and what a constant would have had.
void print_beside(const RunResult& s) {
  std::vector<std::string> others;
  for (const Metric metric : all_metrics())
    if (const auto& value = s.parts.test.of(metric);
        value && s.metric != name(metric) &&
        !(metric == Metric::micro_f1 && s.parts.test.accuracy))  // equal for one class a node
      others.push_back(fmt::format("{} {}", name(metric), metric_text(metric, *value)));
  if (!others.empty()) fmt::print("test also: {}\n", fmt::join(others, ", "));
  if (s.constant.accuracy)
    fmt::print("the most frequent class alone: accuracy {}\n", percent(*s.constant.accuracy));
  else if (s.constant.mse && s.constant.mae)
    fmt::print("predicting the mean: mse {}, mae {}\n", metric_text(Metric::mse, *s.constant.mse),
               metric_text(Metric::mae, *s.constant.mae));
  else if (s.constant.micro_f1)
    fmt::print("the same labels everywhere: micro_f1 {}\n", percent(*s.constant.micro_f1));
  if (const auto& c = s.calibration)
    fmt::print("calibration error of the probabilities: {}; {} with the scores divided by {:.3g}\n",
               percent(c->error), percent(c->error_with_temperature), c->temperature);
  if (const auto& c = s.conformal) {
    fmt::print(
        "prediction sets for {}: {} of the test nodes covered, {:.3g} {} on average, from {} "
        "calibration nodes\n(the promise holds for nodes that are exchangeable with those, and for "
        "no others)\n",
        percent(1 - c->alpha), percent(c->test_coverage), c->mean_size,
        s.constant.accuracy ? "classes" : "wide", c->calibration_nodes);
    if (std::isinf(c->threshold))
      warning(fmt::format("{} calibration nodes are too few for {}: every set has every class",
                          c->calibration_nodes, percent(1 - c->alpha)));
  }
}

void print_summary(const RunResult& s) {
  fmt::print("{} on {}: solver {}, {}, {} thread{}, {} epochs in {:.1f} s ({:.2f} ms each), best epoch {}\n",
             name(s.config.model), s.config.dataset, s.solver, name(s.config.dtype), s.threads,
             s.threads == 1 ? "" : "s", s.epochs, s.seconds_total, 1e3 * s.seconds_per_epoch, s.best_epoch);
  if (s.non_converged_solves.value_or(0) > 0)
    warning(
        fmt::format("{} solves stopped short of their tolerance; raise --max-iterations, or lower --kappa",
                    *s.non_converged_solves));
  if (!s.mu_start.empty())
    fmt::print(
        "F moved by {:.2f} % of its length; largest eigenvalues of g: {:.4f} at the start, {:.4f} now\n",
        100 * s.weight_change, fmt::join(s.mu_start, " "), fmt::join(s.mu_end, " "));
  if (s.error_bound) fmt::print("{}\n", in_words(*s.error_bound));
  if (s.reduction) fmt::print("{}\n", in_words(*s.reduction));
  if (!s.by_distance.empty()) {
    std::vector<std::vector<std::string>> rows;
    for (const DistanceScore& band : s.by_distance)
      rows.push_back({fmt::format("{}-{}", band.from, band.to), std::to_string(band.nodes),
                      band.nodes > 0 ? percent(band.accuracy) : "-"});
    fmt::print("\n{}\n", format_table({"hops from the informative node", "test nodes", "accuracy"}, rows));
  }
  const auto text = [&](double score) { return metric_text(s.metric, score); };
  fmt::print("{}  train {}  validation {}  test {}\n", s.metric, text(s.score.train), text(s.score.val),
             text(s.score.test));
  print_beside(s);
}

// What to type after an error or a signal: empty where nothing is kept.
std::string go_on_with(const std::string& folder) {
  if (folder.empty()) return "";
  return is_interrupted_run(folder) ? launcher_words() + "eignn train --resume " + shell_quoted(folder)
                                    : "the same command";
}

// Shows what was read of tables, once.
void show_table(JobOptions& options) {
  options.on_data = [shown = std::make_shared<bool>(false)](const Dataset& data) {
    if (!*shown && !data.report.empty()) fmt::print("{}\n", columns_table(data.report));
    *shown = true;
  };
}

// Whether a setting says anything for this run: those of the chains are for the chains.
bool concerns(const std::string& setting, const TrainConfig& config) {
  static const std::set<std::string> of_chains = {"chain-length", "chains-per-class", "num-classes",
                                                  "feature-dim", "noise"};
  if (of_chains.count(setting)) return config.dataset == "chains";
  return setting != "tf32" || config.device == DeviceKind::cuda;
}

// The settings in force, by where each came from.
void say_settings(const TrainFlags& flags) {
  std::map<std::string, std::vector<std::string>> by_origin;
  const auto by_flag = flags.settings.names();
  TrainConfig copy = flags.config;
  for (const Field& field : fields(copy)) {
    const bool recipe = flags.by_recipe.count(field.name) > 0;
    const std::string origin = by_flag.count(field.name)       ? "flags"
                               : flags.given.count(field.name) ? "file"
                               : recipe                        ? "recipe"
                                                               : "defaults";
    if (origin == "defaults" && (field.get().empty() || !concerns(field.name, flags.config))) continue;
    by_origin[origin].push_back(fmt::format("{} {}", field.name, field.get()));
  }
  const auto say_from = [&](const std::string& from, const std::string& key) {
    if (by_origin.count(key)) note(fmt::format("{}: {}", from, fmt::join(by_origin[key], ", ")));
  };
  say_from("flags", "flags");
  say_from(flags.config_file, "file");
  say_from("recipe " + flags.recipe_used, "recipe");
  say_from("defaults", "defaults");
}

// What the run decided by itself, once everything is read and prepared.
void say_rules(const RunStart& start) {
  note(
      fmt::format("rules: solver {}, metric {}, {} thread{}; {} parameters learn from {} nodes; {} to "
                  "validate, {} to test",
                  start.solver, start.metric, start.threads, start.threads == 1 ? "" : "s", start.parameters,
                  start.train, start.val, start.test));
  if (start.reduction) note(in_words(*start.reduction));
}

// Whether an epoch has the work that the recipe was timed with: what was given changes how many epochs there
// are, what they minimise or what is kept, and neither the model nor the graph.
bool costs_what_the_recipe_costs(const TrainFlags& flags) {
  static const std::set<std::string> free = {
      "dataset",      "split",         "drawn",    "seed",      "threads",        "epochs",
      "patience",     "metric",        "stopping", "lr",        "schedule",       "optimiser",
      "weight-decay", "class-weights", "clip",     "conformal", "lr-propagation", "weight-decay-propagation"};
  return std::all_of(flags.given.begin(), flags.given.end(),
                     [](const std::string& setting) { return free.count(setting) > 0; });
}

// How long the recipe takes, where that was measured; above ten minutes with a shorter way. `runs` come one
// after another.
void say_time(const TrainFlags& flags, size_t runs) {
  if (!costs_what_the_recipe_costs(flags)) return;
  const auto time = recipe_time(flags.recipe_used, flags.config.dataset);
  if (!time) return;
  constexpr double long_s = 600, short_s = 120;
  const double epochs = static_cast<double>(flags.config.epochs), each = time->epoch_seconds;
  std::string text =
      fmt::format("the recipe {} takes {:.0f} ms an epoch on two cores: ", flags.recipe_used, 1e3 * each);
  if (time->usual_epochs > 0)
    text += fmt::format("usually {}, ",
                        duration_text(each * std::min(epochs, static_cast<double>(time->usual_epochs))));
  text += fmt::format("at most {}", duration_text(each * epochs));
  const auto many = static_cast<double>(runs);
  if (runs > 1) {
    text += fmt::format("; the {} runs together ", runs);
    if (time->usual_epochs > 0)
      text +=
          fmt::format("usually {}, ",
                      duration_text(many * each * std::min(epochs, static_cast<double>(time->usual_epochs))));
    text += fmt::format("at most {}", duration_text(many * each * epochs));
  }
  if (many * each * epochs > long_s) {
    const bool shorter = each * epochs > long_s;
    const auto fewer = static_cast<int64_t>(shorter ? std::clamp(short_s / each, 1.0, epochs) : epochs);
    std::string way = runs > 1 ? "--split 0" : "";
    if (shorter) way += fmt::format("{}--epochs {}", way.empty() ? "" : " ", fewer);
    text += fmt::format("; a short way is {} ({})", way, duration_text(each * static_cast<double>(fewer)));
  }
  note(text);
}

// What there is to say before the first epoch: once, and not before the data are read, so that an error there
// stands alone.
void say_start(const TrainFlags& flags, size_t runs = 1) {
  static std::once_flag said;
  std::call_once(said, [&] {
    say_settings(flags);
    if (!flags.why_recipe.empty())
      note(fmt::format("{} suits the data: {}; --search auto looks further", flags.recipe_used,
                       flags.why_recipe));
    say_time(flags, runs);
    if (flags.out.empty()) note("nothing of this run is kept; --out FOLDER keeps it");
  });
}

// How many runs are under way at a time, and what they leave. Runs of a batch save nothing on their way.
ManyRuns many_runs(const TrainFlags& flags, bool keep_models) {
  return {flags.batch_runs > 0 ? flags.batch_runs : flags.jobs, keep_models, flags.batch_runs == 0};
}

// The options of several runs.
JobOptions options_of_runs(const TrainFlags& flags) {
  JobOptions options = job_options(flags.jobs, flags.json);
  if (!flags.json) show_table(options);
  if (flags.batch_runs > 0 && !flags.json)
    note("a batch saves nothing on its way: a run of it is kept when it has ended (--batch-runs)");
  return options;
}

void train_one(const Job& job, bool resume, const TrainFlags& flags, const Dataset* data = nullptr,
               const SpreadOptions* spread = nullptr) {
  const bool speaks = !spread || spread->ranks.is_first(), words = speaks && !flags.json;
  JobOptions options = job_options(1, !words, flags.parent);
  options.spread = spread;
  if (words) show_table(options);
  if (words) {
    // The data are read, and what follows may take long: the solver is prepared.
    options.on_data = [&, show = options.on_data](const Dataset& read) {
      show(read);
      if (!resume) say_start(flags);
    };
    options.on_start = say_rules;
  }
  const RunResult result =
      resumable([&] { return go_on_with(job.folder); }, [&] { return run_here(job, resume, options, data); });
  if (!speaks) return;
  flags.json ? print_json(result_json(result)) : print_summary(result);
}

void print_runs(const std::vector<RunResult>& runs, bool json) {
  const Json together = summary_of_splits(runs);
  if (json) return print_json(together);
  const std::string& metric = runs[0].metric;
  std::vector<std::vector<std::string>> rows;
  for (const RunResult& run : runs)
    rows.push_back({std::to_string(run.split), std::to_string(run.best_epoch),
                    metric_text(run.metric, run.score.val), metric_text(run.metric, run.score.test)});
  const std::string table = format_table({"split", "best epoch", "validation", "test"}, rows);
  if (runs.size() == 1) return fmt::print("{}", table);
  const MeanOfRuns mean = mean_of_runs(test_scores(runs));
  const bool share = metric_text(metric, 0).back() == '%';
  const auto number = [&](double value) {
    return share ? fmt::format("{:.2f}", 100 * value) : metric_text(metric, value);
  };
  fmt::print("{}\ntest {} {} ± {}{} (standard deviation over {} splits; 95 % interval of the mean ± {})\n",
             table, metric, number(mean.mean), number(mean.std), share ? " %" : "", runs.size(),
             number(mean.ci95));
  std::vector<std::string> others;
  for (const Metric each : all_metrics()) {
    if (metric == name(each) || (each == Metric::micro_f1 && runs[0].parts.test.accuracy)) continue;
    std::vector<double> values;
    for (const RunResult& run : runs)
      if (const auto& value = run.parts.test.of(each)) values.push_back(*value);
    if (!values.empty())
      others.push_back(fmt::format("{} {}", name(each), metric_text(each, mean_of_runs(values).mean)));
  }
  if (!others.empty()) fmt::print("means of the test nodes: {}\n", fmt::join(others, ", "));
}

std::string commented(const std::string& text) {
  std::string out;
  TextLines lines(text, "");
  while (lines.next()) out += fmt::format("# {}\n", lines.line());
  return out;
}

// Whether a folder has the runs of all splits, rather than one run.
bool holds_all_splits(const std::string& folder) {
  const std::string path = folder + "/config.toml";
  if (!std::filesystem::exists(path)) return false;
  TrainConfig config;
  apply_toml(config, read_sealed_toml(path), {}, path);
  return config.split == "all";
}

void train_all_splits(const TrainConfig& config, const std::string& out, const TrainFlags& flags) {
  const std::string batch = flags.batch_runs > 0 ? fmt::format(" --batch-runs {}", flags.batch_runs) : "";
  const JobOptions options = options_of_runs(flags);
  const auto go_on = [&]() -> std::string {
    if (out.empty()) return "";
    if (!std::filesystem::exists(out + "/config.toml")) return "the same command";
    return "eignn train --resume " + shell_quoted(out) + batch;
  };
  const auto work = [&] {
    std::optional<FolderLock> lock;
    if (!out.empty()) {
      make_folders(out);
      lock.emplace(out);
      claim_folder(out, config);
    }
    std::vector<Job> jobs;
    {
      const Dataset data = load_raw_dataset(config);
      jobs = jobs_of_splits(config, all_splits(data), out);
      require_space_for_runs(out, jobs, data, many_runs(flags, /*keep_models=*/true));
    }
    if (!flags.json && flags.resume.empty()) say_start(flags, jobs.size());
    return flags.batch_runs > 0 ? run_in_batches(jobs, flags.batch_runs, options)
                                : run_jobs(jobs, flags.jobs, job_runner(options));
  };
  print_runs(resumable(go_on, work), flags.json);
}

void search(const TrainFlags& flags) {
  const std::string text = read_small_file(flags.search_file);
  const SearchPlan plan = parse_search(text, flags.config, flags.given, flags.search_file);
  const auto report = [&](size_t done, size_t all, const Trial& trial) {
    if (flags.json) return;
    note(fmt::format("run {} of {}: {}", done, all,
                     trial.failure.empty()
                         ? "validation " + metric_text(trial.result.metric, trial.result.score.val)
                         : trial.failure));
  };
  JobOptions options = options_of_runs(flags);
  options.keep_models = false;
  const auto work = [&] {
    size_t splits = 0;
    {
      const Dataset data = load_raw_dataset(plan.points[0]);
      splits = data.splits.size();
      require_space_for_search(plan, data, flags.out, many_runs(flags, /*keep_models=*/false));
    }
    if (!flags.json) say_start(flags);
    return run_search(plan, static_cast<int64_t>(splits), flags.out,
                      flags.batch_runs > 0 ? in_batches(flags.batch_runs, options)
                                           : run_individually(flags.jobs, job_runner(options)),
                      report, text + "# on top of:\n" + commented(to_toml(flags.config)));
  };
  const SearchResult result = resumable([&] { return flags.out.empty() ? "" : "the same command"; }, work);
  if (flags.json) {
    Json json = summary_of_splits(result.runs);
    json["trials"] = trials_json(result.trials);
    return print_json(json);
  }
  std::vector<std::string> header = plan.varied;
  header.insert(header.end(), {"validation", "all splits", ""});
  std::vector<std::vector<std::string>> rows;
  const std::string metric = result.runs.at(0).metric;
  const auto mean_text = [&](const std::vector<double>& values) {
    return metric_text(metric, mean_of_runs(values).mean);
  };
  for (const SearchTrial& trial : result.trials) {
    std::vector<std::string> row;
    for (const auto& name : plan.varied) row.push_back(trial.settings.at(name));
    row.push_back(trial.val.empty() ? "failed" : mean_text(trial.val));
    row.push_back(trial.final_val.empty() ? "-" : mean_text(trial.final_val));
    row.push_back(trial.chosen ? "chosen" : "");
    rows.push_back(row);
  }
  fmt::print("{}\nThe chosen one, tested:\n", format_table(header, rows));
  print_runs(result.runs, false);
}

// One row for a candidate: the validation figure of each rung that it reached.
std::vector<std::string> trial_row(const AutoTrial& trial, const std::string& metric) {
  constexpr size_t rungs = 3;
  std::vector<std::string> row = {trial.name};
  for (size_t r = 0; r < rungs; ++r)
    row.push_back(r < trial.rungs.size() && !trial.rungs[r].val.empty()
                      ? metric_text(metric, mean_of_runs(trial.rungs[r].val).mean)
                      : "-");
  row.push_back(trial.rungs.empty() ? "-"
                                    : fmt::format("{:.0f}", 1e3 * trial.rungs.back().seconds_per_epoch));
  row.push_back(!trial.failure.empty() ? "out" : trial.chosen ? "chosen" : "");
  return row;
}

void search_automatically(const TrainFlags& flags) {
  AutoSearch race{flags.config, flags.given, flags.model_list};
  race.budget_seconds = flags.budget_seconds;
  race.trials = flags.trials;
  race.splits = flags.splits;
  const Dataset raw = load_raw_dataset(flags.config);
  const std::string metric = name(resolved_metric(flags.config.metric, raw));
  JobOptions options = job_options(1, flags.json);
  if (isatty(STDERR_FILENO) == 0) options.watch = {};  // a line for each candidate is enough
  if (!flags.json) show_table(options);
  size_t done = 0;
  const auto report = [&](const AutoTrial& trial) {
    ++done;
    if (flags.json) return;
    const AutoTrial::Rung& rung = trial.rungs.back();
    note(fmt::format("{}: {}, {} epochs: {}", done, trial.name, rung.epochs,
                     trial.failure.empty() ? "validation " + metric_text(metric, mean_of_runs(rung.val).mean)
                                           : trial.failure));
  };
  const auto work = [&] {
    return run_auto_search(race, raw, flags.out, one_at_a_time(options, raw), report);
  };
  const AutoSearchResult result =
      resumable([&] { return flags.out.empty() ? "" : "the same command"; }, work);
  if (flags.json) {
    Json json = summary_of_splits(result.runs);
    json["trials"] = trials_json(result.trials);
    return print_json(json);
  }
  std::vector<std::vector<std::string>> rows;
  std::string chosen;
  for (const AutoTrial& trial : result.trials) {
    rows.push_back(trial_row(trial, metric));
    if (!trial.chosen) continue;
    TrainConfig defaults;
    defaults.model = model_options(name(result.best.model));
    const auto usual = to_strings(defaults);
    std::vector<std::string> settings;
    for (const auto& [setting, text] : trial.settings)
      if (usual.at(setting) != text) settings.push_back(fmt::format("{} {}", setting, text));
    chosen = fmt::format("{} ({})", trial.name, fmt::join(settings, ", "));
  }
  fmt::print("{}\n{} candidates, {} of training. Chosen by validation {}: {}\nTested:\n",
             format_table({"candidate", "rung 1", "rung 2", "in full", "ms an epoch", ""}, rows),
             result.trials.size(), duration_text(result.seconds), metric, chosen);
  print_runs(result.runs, false);
  if (!flags.out.empty()) fmt::print("kept: {0}/best, its settings in {0}/best.toml\n", flags.out);
}

void resume(const TrainFlags& flags, const SpreadOptions* spread) {
  if (!holds_all_splits(flags.resume)) {
    Job job{flags.config, flags.resume};
    job.resumed_epochs = flags.resumed_epochs;
    return train_one(job, /*resume=*/true, flags, nullptr, spread);
  }
  if (flags.resumed_epochs > 0)
    throw UsageError(
        fmt::format("the runs of a set end alike (--epochs); give one of them, such as --resume {}/split-0",
                    flags.resume));
  TrainConfig config;
  const std::string path = flags.resume + "/config.toml";
  apply_toml(config, read_sealed_toml(path), {}, path);
  validate(config);
  train_all_splits(config, flags.resume, flags);
}

// Data without a recipe: the table that suits them, said with the reason. A single run goes on with the data
// that were read for it.
TrainFlags with_own_rule(TrainFlags flags, std::optional<Dataset>& raw) {
  if (flags.recipe_used != "eignn/own" || !flags.recipe.empty() || !flags.search_file.empty()) return flags;
  const bool single = flags.config.split != "all";
  std::optional<WarningScope> silent;  // several runs read the data again, and warn then
  if (!single) silent.emplace([](const std::string&) {});
  raw = load_raw_dataset(flags.config);
  const OwnChoice choice = apply_own_rule(flags.config, flags.given, *raw, &flags.by_recipe);
  if (!single) raw.reset();
  validate(flags.config);
  flags.recipe_used = "eignn/" + choice.table;
  flags.why_recipe = choice.why;
  return flags;
}

// What the flags ask for, in this process or in this one of several.
void train_as_asked(const TrainFlags& given, const SpreadOptions* spread) {
  if (!given.json && given.resume.empty()) say_long_reading(given.config.dataset);
  if (!given.resume.empty()) return resume(given, spread);
  if (given.config_changed)  // people edit this file on purpose
    warning(
        fmt::format("the settings in {} were changed after they were written, and are taken as they are; "
                    "without its line '# digest' this is not said",
                    given.config_file));
  std::optional<Dataset> raw;
  // Of shards each process reads its own, and no rule looks at all of them.
  const bool apart = spread && std::filesystem::exists(given.config.dataset + "/shards.toml");
  const TrainFlags flags = apart ? given : with_own_rule(given, raw);
  if (flags.searches_automatically()) return search_automatically(flags);
  if (const auto idle = idle_settings_in_words(flags.config, flags.settings.names()); !idle.empty())
    warning(idle);
  if (!flags.search_file.empty()) return search(flags);
  if (flags.config.split == "all") return train_all_splits(flags.config, flags.out, flags);
  if (raw) raw = prepared(std::move(*raw), flags.config);
  train_one({flags.config, flags.out}, /*resume=*/false, flags, raw ? &*raw : nullptr, spread);
}

}  // namespace

void run_train(const TrainFlags& flags) {
  if (Launched::from_environment().processes == 1) return train_as_asked(flags, nullptr);
  const std::string& folder = flags.resume.empty() ? flags.out : flags.resume;
  const auto go_on = [&] {
    const std::string command = go_on_with(folder);
    return command.empty() ? "nothing was kept, since there was no --out" : "go on with: " + command;
  };
  work_together(
      [&](const SpreadOptions& all) {
        const SpreadOptions spread = on_grid(all, flags);
        train_as_asked(flags, &spread);
      },
      go_on);
}

}  // namespace eignn::cli
