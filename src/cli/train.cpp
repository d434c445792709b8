#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <optional>

#include "cli/flags.h"
#include "cli/jobs.h"
#include "data/atomic_file.h"
#include "data/folder_lock.h"
#include "data/text_lines.h"
#include "eignn/error.h"
#include "report/table.h"
#include "run/recipes.h"
#include "run/result_json.h"
#include "run/run_folder.h"
#include "run/search.h"
#include "run/statistics.h"
#include "train/config_toml.h"

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

// What to type after an error or a signal: empty where nothing is kept.
std::string go_on_with(const std::string& folder) {
  if (folder.empty()) return "";
  return is_interrupted_run(folder) ? "eignn train --resume " + shell_quoted(folder) : "the same command";
}

void train_one(const Job& job, bool resume, const Flags& flags) {
  const JobOptions options = job_options(1, flags.json, flags.parent);
  const RunResult result =
      resumable([&] { return go_on_with(job.folder); }, [&] { return run_here(job, resume, options); });
  flags.json ? print_json(result_json(result)) : print_summary(result);
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

void train_all_splits(const TrainConfig& config, const std::string& out, const Flags& flags) {
  const std::string batch = flags.batch_runs > 0 ? fmt::format(" --batch-runs {}", flags.batch_runs) : "";
  const JobOptions options = job_options(flags.jobs, flags.json);
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
    const auto jobs = jobs_of_splits(config, all_splits(config), out);
    return flags.batch_runs > 0 ? run_in_batches(jobs, flags.batch_runs, options)
                                : run_jobs(jobs, flags.jobs, job_runner(options));
  };
  print_runs(resumable(go_on, work), flags.json);
}

void search(const Flags& flags) {
  const std::string text = read_small_file(flags.search_file);
  const SearchPlan plan = parse_search(text, flags.config, flags.given, flags.search_file);
  const auto report = [&](size_t done, size_t all, const Trial& trial) {
    if (flags.json) return;
    note(
        fmt::format("run {} of {}: {}", done, all,
                    trial.failure.empty() ? "validation " + percent(trial.result.score.val) : trial.failure));
  };
  JobOptions options = job_options(flags.jobs, flags.json);
  options.keep_models = false;
  const auto work = [&] {
    std::optional<FolderLock> lock;
    if (!flags.out.empty()) {
      make_folders(flags.out);
      lock.emplace(flags.out);
      claim_folder(flags.out, "search.toml", text + "# on top of:\n" + commented(to_toml(flags.config)));
    }
    const auto splits = all_splits(plan.points[0]);
    SearchResult result = run_search(plan, static_cast<int64_t>(splits.size()), flags.out,
                                     flags.batch_runs > 0 ? in_batches(flags.batch_runs, options)
                                                          : run_individually(flags.jobs, job_runner(options)),
                                     report);
    if (!flags.out.empty()) {
      write_file_atomically(flags.out + "/trials.json", trials_json(result.trials).dump(1) + "\n");
      write_file_atomically(flags.out + "/best.toml", to_toml(result.best));
    }
    return result;
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
  for (const SearchTrial& trial : result.trials) {
    std::vector<std::string> row;
    for (const auto& name : plan.varied) row.push_back(trial.settings.at(name));
    row.push_back(trial.val.empty() ? "failed" : percent(mean_of_runs(trial.val).mean));
    row.push_back(trial.final_val.empty() ? "-" : percent(mean_of_runs(trial.final_val).mean));
    row.push_back(trial.chosen ? "chosen" : "");
    rows.push_back(row);
  }
  fmt::print("{}\nThe chosen one, tested:\n", format_table(header, rows));
  print_runs(result.runs, false);
}

void resume(const Flags& flags) {
  if (!holds_all_splits(flags.resume)) return train_one({{}, flags.resume}, /*resume=*/true, flags);
  TrainConfig config;
  const std::string path = flags.resume + "/config.toml";
  apply_toml(config, read_sealed_toml(path), {}, path);
  validate(config);
  train_all_splits(config, flags.resume, flags);
}

}  // namespace

void run_train(const TrainFlags& flags) {
  if (!flags.resume.empty()) return resume(flags);
  if (!flags.search_file.empty()) return search(flags);
  if (flags.config.split == "all") return train_all_splits(flags.config, flags.out, flags);
  train_one({flags.config, flags.out}, /*resume=*/false, flags);
}

}  // namespace eignn::cli
