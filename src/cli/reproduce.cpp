#include <fmt/format.h>

#include <filesystem>
#include <thread>

#include "cli/flags.h"
#include "cli/jobs.h"
#include "data/atomic_file.h"
#include "data/folder_lock.h"
#include "data/text_lines.h"
#include "eignn/error.h"
#include "paper/reproduction.h"
#include "run/child_process.h"
#include "run/provenance.h"

namespace eignn::cli {

namespace {

// What holds for every experiment of the command.
ReproduceOptions options_of(const ReproduceFlags& flags) {
  ReproduceOptions options;
  options.quick = flags.quick;
  options.seeds = flags.seeds;
  options.rows = flags.row_list;
  options.lengths = flags.length_list;
  options.settings = flags.settings.given();
  return options;
}

// Sets the number of parallel runs and their threads. Where neither is given the runs share the cores: on a
// CPU one run per core, with one thread each.
void share_cores(const Reproduction& experiment, const ReproduceFlags& flags, ReproduceOptions& options) {
  constexpr int64_t most = 8;  // each has a data set and its spectrum in memory
  options.parallel = std::max<int64_t>(1, flags.jobs);
  if (experiment.timed) options.parallel = 1;
  TrainConfig asked;
  assign(asked, options.settings);
  if (experiment.timed || asked.device != DeviceKind::cpu) return;
  const auto cores = std::max<int64_t>(1, std::thread::hardware_concurrency());
  const int64_t threads = asked.threads;
  if (flags.jobs == 0) options.parallel = std::clamp<int64_t>(cores / std::max<int64_t>(1, threads), 1, most);
  if (options.parallel > 1 && threads == 0)
    options.settings["threads"] = std::to_string(std::max<int64_t>(1, cores / options.parallel));
}

std::string runs_folder(const ReproduceFlags& flags, const Reproduction& experiment) {
  return fmt::format("{}/{}", flags.runs, experiment.runs_of.empty() ? experiment.name : experiment.runs_of);
}

// The command line that repeats this command.
std::string command_of(const ReproduceFlags& flags, const ReproduceOptions& options) {
  std::string self = "eignn reproduce " + flags.name;
  if (!flags.models.empty()) self += " --models " + shell_quoted(flags.models);
  if (!flags.rows.empty()) self += " --rows " + shell_quoted(flags.rows);
  if (!flags.lengths.empty()) self += " --lengths " + flags.lengths;
  if (flags.quick) self += " --quick";
  if (flags.seeds > 0) self += fmt::format(" --seeds {}", flags.seeds);
  if (flags.jobs > 0) self += fmt::format(" --jobs {}", flags.jobs);
  if (flags.out != ReproduceFlags().out) self += " --out " + shell_quoted(flags.out);
  if (flags.runs != ReproduceFlags().runs) self += " --runs " + shell_quoted(flags.runs);
  for (const auto& [name, value] : options.settings)
    self += fmt::format(" --{} {}", name, shell_quoted(value));
  return self;
}

std::string about_left(double seconds) {
  return seconds < 0 ? "" : fmt::format("; about {} left", duration_text(seconds));
}

// Draws the figures as SVG files beside the page and returns their names. Without gnuplot there are none, and
// a warning is printed.
std::vector<std::string> draw_plots(const std::vector<LinePlot>& plots, const std::string& folder,
                                    const std::string& stem) {
  std::vector<std::string> files;
  for (const LinePlot& plot : plots) {
    const ChildResult svg = run_child({"gnuplot"}, gnuplot_script(plot), "/dev/null");
    if (svg.exit_code != 0 || svg.output.empty()) {
      warning("no figure could be drawn (gnuplot); install it, then give the same command again");
      return files;
    }
    files.push_back(fmt::format("{}{}.svg", stem, plot.name));
    write_file_atomically(folder + "/" + files.back(), svg.output);
  }
  return files;
}

std::string stem_of(const Reproduction& experiment, const ReproduceFlags& flags) {
  return file_stem(experiment.name, flags.quick);
}

// Holds the results of an experiment in the folder of --out, in which other experiments may be at work.
FolderLock lock_of_results(const std::string& stem, const ReproduceFlags& flags) {
  make_folders(flags.out);
  return FolderLock(flags.out, "." + stem + ".lock");
}

struct Written {
  ResultJson results;
  std::string page, page_file;
};

// Writes the page, the figures and the JSON of these results.
Written write_results(const Reproduction& experiment, const ReproduceFlags& flags, ResultJson results) {
  const std::string stem = stem_of(experiment, flags);
  const auto figures = draw_plots(experiment.plots(results), flags.out, stem);
  Written written{std::move(results), "", stem + ".md"};
  written.page = experiment.page(written.results, figures);
  write_file_atomically(fmt::format("{}/{}.json", flags.out, stem), written.results.dump() + "\n");
  write_file_atomically(fmt::format("{}/{}", flags.out, written.page_file), written.page);
  return written;
}

Written run_one(const Reproduction& experiment, const ReproduceOptions& options, const ReproduceFlags& flags,
                const std::string& self) {
  make_folders(options.runs);
  const FolderLock runs_lock(options.runs);
  // The many short runs of a figure have a line each.
  JobOptions jobs = job_options(options.parallel, flags.json || !experiment.has_rows);
  jobs.keep_models = experiment.keep_models;
  jobs.own_processes = experiment.own_processes;
  const auto on_run = [&](const RunReport& report) {
    const std::string said = !report.text.empty()
                                 ? report.text
                                 : fmt::format("validation {}, test {}", percent(report.run.score.val),
                                               percent(report.run.score.test));
    if (!flags.json)
      note(fmt::format("{}: run {} of {}: {}{}", report.label, report.done, report.all, said,
                       about_left(report.seconds_left)));
    if (interrupted()) throw InterruptedError(options.runs);
  };
  ResultJson results =
      resumable([&] { return self; }, [&] { return experiment.run(options, job_runner(jobs), on_run); });
  results["provenance"] = {{"command", self},
                           {"machine", machine_name()},
                           {"version", version()},
                           {"table_commit", built_commit()}};
  return write_results(experiment, flags, std::move(results));
}

std::string results_file(const Reproduction& experiment, const ReproduceFlags& flags) {
  return fmt::format("{}/{}.json", flags.out, stem_of(experiment, flags));
}

// --redraw: from the results of an earlier call.
Written redraw_one(const Reproduction& experiment, const ReproduceFlags& flags) {
  const std::string file = results_file(experiment, flags);
  ResultJson results = ResultJson::parse(read_whole_file(file), nullptr, /*allow_exceptions=*/false);
  if (!results.is_object() || results.value("experiment", ResultJson()) != experiment.name) {
    throw DataError(file, "", fmt::format("it has no results of {}", experiment.name),
                    fmt::format("make it with eignn reproduce {}", experiment.name));
  }
  try {
    if (experiment.renew) experiment.renew(results);
    return write_results(experiment, flags, std::move(results));
  } catch (const nlohmann::json::exception& error) {
    throw DataError(file, "", fmt::format("its results are not whole: {}", error.what()), "run it again");
  }
}

void write_index(const ReproduceFlags& flags, const std::vector<IndexEntry>& entries) {
  write_file_atomically(fmt::format("{}/{}.md", flags.out, file_stem("index", flags.quick)),
                        index_page(entries, flags.quick));
}

void say_index(const ReproduceFlags& flags, const std::vector<IndexEntry>& entries, const Json& together) {
  if (flags.json) return print_json(together);
  fmt::print("{}\nwritten: {}/{}.md\n", index_page(entries, flags.quick), flags.out,
             file_stem("index", flags.quick));
}

// Experiments without results in --out are listed as not run.
void redraw_all(const ReproduceFlags& flags) {
  std::vector<IndexEntry> entries;
  Json together = Json::object();
  const FolderLock index_lock = lock_of_results(file_stem("index", flags.quick), flags);
  for (const Reproduction& experiment : reproductions()) {
    if (!std::filesystem::exists(results_file(experiment, flags))) {
      entries.push_back({experiment.title, "", ""});
      continue;
    }
    const FolderLock lock = lock_of_results(stem_of(experiment, flags), flags);
    const Written written = redraw_one(experiment, flags);
    entries.push_back({experiment.title, written.page_file, experiment.outcome(written.results)});
    together[experiment.name] = written.results;
  }
  write_index(flags, entries);
  say_index(flags, entries, together);
}

void run_all(const ReproduceOptions& options, const ReproduceFlags& flags) {
  const std::string self = command_of(flags, options);
  const auto for_this = [&](const Reproduction& experiment) {
    ReproduceOptions own = options;
    own.models = experiment.all_models;
    own.runs = runs_folder(flags, experiment);
    share_cores(experiment, flags, own);
    return own;
  };
  for (const Reproduction& experiment : reproductions()) experiment.check(for_this(experiment));
  std::vector<FolderLock> locks;
  for (const Reproduction& experiment : reproductions())
    locks.push_back(lock_of_results(stem_of(experiment, flags), flags));
  locks.push_back(lock_of_results(file_stem("index", flags.quick), flags));
  std::vector<IndexEntry> entries;
  Json together = Json::object();
  for (const Reproduction& experiment : reproductions()) {
    if (!flags.json) note(experiment.title);
    const Written written = run_one(experiment, for_this(experiment), flags, self);
    entries.push_back({experiment.title, written.page_file, experiment.outcome(written.results)});
    together[experiment.name] = written.results;
    write_index(flags, entries);
  }
  say_index(flags, entries, together);
}

void say_written(const ReproduceFlags& flags, const Written& written) {
  if (flags.json) return print_json(written.results);
  const std::string page = flags.out + "/" + written.page_file;
  fmt::print("{}\nwritten: {}.json, {}\n", written.page, page.substr(0, page.size() - 3), page);
}

}  // namespace

void run_reproduce(const ReproduceFlags& flags) {
  if (flags.redraw && flags.name == "all") return redraw_all(flags);
  if (flags.name == "all") return run_all(options_of(flags), flags);
  const Reproduction& experiment = reproduction(flags.name);
  if (flags.redraw) {
    const FolderLock lock = lock_of_results(stem_of(experiment, flags), flags);
    return say_written(flags, redraw_one(experiment, flags));
  }
  ReproduceOptions options = options_of(flags);
  options.models = flags.models == "all" ? experiment.models : flags.model_list;
  options.runs = runs_folder(flags, experiment);
  check_options(experiment, options);
  experiment.check(options);
  const std::string self = command_of(flags, options);
  share_cores(experiment, flags, options);
  const FolderLock lock = lock_of_results(stem_of(experiment, flags), flags);
  say_written(flags, run_one(experiment, options, flags, self));
}

}  // namespace eignn::cli
