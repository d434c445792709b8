#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "cli/flags.h"
#include "cli/run_jobs.h"
#include "data/atomic_file.h"
#include "data/text_lines.h"
#include "eignn/error.h"
#include "report/table.h"
#include "run/recipes.h"
#include "run/search.h"
#include "train/config.h"

namespace eignn::cli {

namespace {

using Flags = TrainFlags;

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
  if (!s.by_distance.empty()) {
    std::vector<std::vector<std::string>> rows;
    for (const DistanceScore& band : s.by_distance)
      rows.push_back({fmt::format("{}-{}", band.from, band.to), std::to_string(band.nodes),
                      band.nodes > 0 ? percent(band.accuracy) : "-"});
    fmt::print("\n{}\n", format_table({"hops from the informative node", "test nodes", "accuracy"}, rows));
  }
  fmt::print("{}  train {}  validation {}  test {}\n", s.metric, percent(s.score.train), percent(s.score.val),
             percent(s.score.test));
}

void print_or_json(const RunResult& summary, bool json) {
  json ? print_json(result_json(summary)) : print_summary(summary);
}

void print_runs(const std::vector<RunResult>& runs, bool json) {
  const Json together = summary_of_splits(runs);
  if (json) return print_json(together);
  const std::string& metric = runs[0].metric;
  std::vector<std::vector<std::string>> rows;
  for (const RunResult& run : runs)
    rows.push_back({std::to_string(run.split), std::to_string(run.best_epoch), percent(run.score.val),
                    percent(run.score.test)});
  const std::string key = "test_" + metric;
  if (runs.size() == 1)
    return fmt::print("{}", format_table({"split", "best epoch", "validation", "test"}, rows));
  fmt::print(
      "{}\ntest {} {:.2f} ± {:.2f} % (standard deviation over {} splits; 95 % interval of the mean ± "
      "{:.2f})\n",
      format_table({"split", "best epoch", "validation", "test"}, rows), metric,
      100 * together[key + "_mean"].get<double>(), 100 * together[key + "_std"].get<double>(), runs.size(),
      100 * together[key + "_ci95"].get<double>());
}

JobOptions job_options(const Flags& flags, const std::string& resume_words, bool keep_models) {
  JobOptions options;
  options.parallel = flags.jobs;
  options.quiet = flags.json;
  options.keep_models = keep_models;
  options.resume_words = resume_words;
  return options;
}

std::string commented(const std::string& text) {
  std::string out;
  TextLines lines(text, "");
  while (lines.next()) out += fmt::format("# {}\n", lines.line());
  return out;
}

void train_all_splits(const TrainConfig& config, const std::string& out, const Flags& flags) {
  if (!out.empty()) claim_folder(out, config);
  const auto jobs = jobs_of_splits(config, all_splits(config), out);
  const std::string batch = flags.batch_runs > 0 ? fmt::format(" --batch-runs {}", flags.batch_runs) : "";
  const JobOptions options = job_options(flags, "eignn train --resume " + out + batch, true);
  print_runs(flags.batch_runs > 0 ? run_in_batches(jobs, flags.batch_runs, options)
                                  : run_jobs(jobs, flags.jobs, job_runner(options)),
             flags.json);
}

void search(const Flags& flags, const std::set<std::string>& given) {
  const std::string text = read_whole_file(flags.search_file);
  const SearchPlan plan = parse_search(text, flags.config, given, flags.search_file);
  if (!flags.out.empty())
    claim_folder(flags.out, "search.toml", text + "# on top of:\n" + commented(to_toml(flags.config)));
  const auto splits = all_splits(plan.points[0]);
  const auto report = [&](size_t done, size_t all, const Trial& trial) {
    if (flags.json) return;
    note(
        fmt::format("run {} of {}: {}", done, all,
                    trial.failure.empty() ? "validation " + percent(trial.result.score.val) : trial.failure));
  };
  const JobOptions options = job_options(flags, "the same command", /*keep_models=*/false);
  const SearchResult result =
      run_search(plan, static_cast<int64_t>(splits.size()), flags.out,
                 flags.batch_runs > 0 ? in_batches(flags.batch_runs, options)
                                      : each_by_itself(flags.jobs, job_runner(options)),
                 report);
  if (!flags.out.empty()) {
    write_file_atomically(flags.out + "/trials.json", result.trials.dump(1) + "\n");
    write_file_atomically(flags.out + "/best.toml", to_toml(result.best));
  }
  if (flags.json) {
    Json json = summary_of_splits(result.runs);
    json["trials"] = result.trials;
    return print_json(json);
  }
  std::vector<std::string> header = plan.varied;
  header.insert(header.end(), {"validation", "all splits", ""});
  std::vector<std::vector<std::string>> rows;
  for (const Json& trial : result.trials) {
    std::vector<std::string> row;
    for (const auto& name : plan.varied) row.push_back(trial["settings"][name].get<std::string>());
    row.push_back(trial.contains("val_mean") ? percent(trial["val_mean"]) : "failed");
    row.push_back(trial.contains("final_val_mean") ? percent(trial["final_val_mean"]) : "-");
    row.push_back(trial["chosen"].get<bool>() ? "chosen" : "");
    rows.push_back(row);
  }
  fmt::print("{}\nThe chosen one, tested:\n", format_table(header, rows));
  print_runs(result.runs, false);
}

// A folder with the runs of all splits, rather than one run.
bool holds_all_splits(const std::string& folder) {
  const std::string path = folder + "/config.toml";
  if (!std::filesystem::exists(path)) return false;
  TrainConfig config;
  apply_toml(config, read_whole_file(path), {}, path);
  return config.split == "all";
}

void resume(const Flags& flags) {
  if (!flags.out.empty() || !flags.config_file.empty() || !flags.search_file.empty() ||
      !flags.recipe.empty() || !flags.settings.given().empty())
    throw UsageError(
        "--resume takes everything from the run folder (--resume); give it alone, or with --json");
  if (!holds_all_splits(flags.resume))
    return print_or_json(train_one({}, flags.resume, true, flags.json), flags.json);
  TrainConfig config;
  const std::string path = flags.resume + "/config.toml";
  apply_toml(config, read_whole_file(path), {}, path);
  validate(config);
  train_all_splits(config, flags.resume, flags);
}

void work(Flags& flags) {
  watch_for_interrupt();
  check_jobs(flags.jobs);
  if (flags.batch_runs > 0 && flags.jobs > 1)
    throw UsageError("a batch is one job (--batch-runs); leave out --jobs");
  if (flags.batch_runs > 0 && !flags.search_file.empty() && flags.out.empty())
    throw UsageError("the batches of a search need a folder for their runs (--batch-runs); give --out too");
  if (!flags.resume.empty()) return resume(flags);
  if (flags.jobs > 1 && flags.out.empty())
    throw UsageError("several jobs at a time need a folder to meet in (--jobs); give --out too");
  const auto texts = flags.settings.given();
  auto given = flags.settings.names();
  // The model first: which other settings there are is its business.
  if (const auto model = texts.find("model"); model != texts.end())
    assign(flags.config, "model", model->second);
  if (!flags.config_file.empty())
    given = apply_toml(flags.config, read_whole_file(flags.config_file), given, flags.config_file);
  for (const auto& [name, text] : texts)
    if (name != "model") assign(flags.config, name, text);
  validate(flags.config);
  apply_recipe(flags.config, given, flags.recipe);
  validate(flags.config);
  if (!flags.search_file.empty() && given.count("split"))
    throw UsageError("a search judges by the splits that its file names (--split); leave --split out");
  if (!flags.search_file.empty()) return search(flags, given);
  if (flags.batch_runs > 0 && flags.config.split != "all")
    throw UsageError("a batch is made of the data set's splits (--batch-runs); give --split all too");
  if (flags.config.split == "all") return train_all_splits(flags.config, flags.out, flags);
  print_or_json(train_one(flags.config, flags.out, false, flags.json), flags.json);
}

}  // namespace

void run_train(TrainFlags& flags) {
  work(flags);
}

}  // namespace eignn::cli
