#include <fmt/format.h>

#include <charconv>
#include <thread>

#include "cli/flags.h"
#include "cli/run_jobs.h"
#include "data/atomic_file.h"
#include "data/text_lines.h"
#include "eignn/error.h"
#include "paper/reproduction.h"
#include "run/child_process.h"
#include "run/provenance.h"
#include "train/config.h"

namespace eignn::cli {

namespace {

using Flags = ReproduceFlags;

std::vector<std::string> split_list(const std::string& list) {
  std::vector<std::string> out;
  for (size_t at = 0; at < list.size();) {
    const size_t comma = std::min(list.find(',', at), list.size());
    out.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  return out;
}

std::vector<int64_t> parse_lengths(const std::string& list) {
  std::vector<int64_t> out;
  for (const std::string& text : split_list(list)) {
    int64_t length = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    if (error != std::errc() || end != text.data() + text.size() || length < 1)
      throw UsageError(fmt::format(
          "{} is no length (--lengths); give whole numbers with commas, such as 10,50", quote(text)));
    out.push_back(length);
  }
  return out;
}

// What holds for every experiment of the command.
ReproduceOptions options_of(const CLI::App& command, const Flags& flags) {
  if (command.get_option("--seeds")->count() > 0 && flags.seeds < 1)
    throw UsageError(fmt::format("{} is out of range (--seeds); give 1 or more", flags.seeds));
  if (command.get_option("--jobs")->count() > 0) check_jobs(flags.jobs);
  ReproduceOptions options;
  options.quick = flags.quick;
  options.seeds = flags.seeds;
  options.rows = split_list(flags.rows);
  options.lengths = parse_lengths(flags.lengths);
  options.settings = flags.settings.given();
  if (options.settings.count("seed"))
    throw UsageError("the seeds are 0, 1, … (--seed); say how many with --seeds");
  TrainConfig probe;
  assign(probe, options.settings);
  return options;
}

// How many runs at a time, and of how many threads. What is not told shares the cores: on a CPU a run for
// each core, of one thread.
void share_cores(const Reproduction& experiment, const Flags& flags, ReproduceOptions& options) {
  constexpr int64_t most = 8;  // each keeps a data set and its spectrum in memory
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

std::string runs_folder(const Flags& flags, const Reproduction& experiment) {
  return fmt::format("{}/{}", flags.runs, experiment.runs_of.empty() ? experiment.name : experiment.runs_of);
}

// The command as it can be given again.
std::string words_of(const Flags& flags, const ReproduceOptions& options) {
  std::string self = "eignn reproduce " + flags.name;
  if (!flags.models.empty()) self += " --models " + flags.models;
  if (!flags.rows.empty()) self += " --rows " + flags.rows;
  if (!flags.lengths.empty()) self += " --lengths " + flags.lengths;
  if (flags.quick) self += " --quick";
  if (flags.seeds > 0) self += fmt::format(" --seeds {}", flags.seeds);
  if (flags.jobs > 0) self += fmt::format(" --jobs {}", flags.jobs);
  if (flags.out != Flags().out) self += " --out " + flags.out;
  if (flags.runs != Flags().runs) self += " --runs " + flags.runs;
  for (const auto& [name, value] : options.settings) self += fmt::format(" --{} {}", name, value);
  return self;
}

std::string time_left(double seconds) {
  if (seconds < 0) return "";
  if (seconds < 90) return fmt::format("; about {:.0f} s left", seconds);
  if (seconds < 5400) return fmt::format("; about {:.0f} min left", seconds / 60);
  return fmt::format("; about {:.1f} h left", seconds / 3600);
}

// The figures as SVG files beside the page; their names. Without gnuplot there are none, and a warning.
std::vector<std::string> draw(const std::vector<LinePlot>& plots, const std::string& folder,
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

struct Written {
  ResultJson results;
  std::string page, page_file;
};

Written run_one(const Reproduction& experiment, const ReproduceOptions& options, const Flags& flags,
                const std::string& self) {
  JobOptions jobs;
  jobs.parallel = options.parallel;
  jobs.quiet = flags.json || !experiment.has_rows;  // the many short runs of a figure have a line each
  jobs.keep_models = experiment.keep_models;
  jobs.resume_words = self;
  ResultJson results = experiment.run(options, job_runner(jobs), [&](const RunReport& report) {
    const std::string said = !report.text.empty()
                                 ? report.text
                                 : fmt::format("validation {}, test {}", percent(report.run.score.val),
                                               percent(report.run.score.test));
    if (!flags.json)
      note(fmt::format("{}: run {} of {}: {}{}", report.label, report.done, report.all, said,
                       time_left(report.seconds_left)));
    if (interrupted()) throw Interrupted{"interrupted; finished runs are kept, go on with: " + self};
  });
  results["provenance"] = {{"command", self},
                           {"machine", machine_name()},
                           {"version", version()},
                           {"table_commit", built_commit()}};
  make_folders(flags.out);
  const std::string stem = experiment.name + (flags.quick ? "-quick" : "");
  const auto figures = draw(experiment.plots(results), flags.out, stem);
  Written written{results, experiment.page(results, figures), stem + ".md"};
  write_file_atomically(fmt::format("{}/{}.json", flags.out, stem), results.dump() + "\n");
  write_file_atomically(fmt::format("{}/{}", flags.out, written.page_file), written.page);
  return written;
}

void run_all(const ReproduceOptions& options, const Flags& flags) {
  if (!flags.models.empty() || !flags.rows.empty() || !flags.lengths.empty())
    throw UsageError("these belong to one experiment (--models, --rows, --lengths); give them with its name");
  const std::string self = words_of(flags, options);
  const auto for_this = [&](const Reproduction& experiment) {
    ReproduceOptions own = options;
    own.models = experiment.all_models;
    own.runs = runs_folder(flags, experiment);
    share_cores(experiment, flags, own);
    return own;
  };
  for (const Reproduction& experiment : reproductions()) experiment.check(for_this(experiment));
  std::vector<IndexEntry> entries;
  Json together = Json::object();
  for (const Reproduction& experiment : reproductions()) {
    if (!flags.json) note(experiment.title);
    const Written written = run_one(experiment, for_this(experiment), flags, self);
    entries.push_back({experiment.title, written.page_file, experiment.outcome(written.results)});
    together[experiment.name] = written.results;
    write_file_atomically(flags.out + "/index.md", index_page(entries));
  }
  if (flags.json) return print_json(together);
  fmt::print("{}\nwritten: {}/index.md\n", index_page(entries), flags.out);
}

void work(const CLI::App& command, const Flags& flags) {
  watch_for_interrupt();
  if (flags.name.empty())
    throw UsageError("no experiment is named (eignn reproduce); give one of those in eignn reproduce --help");
  if (flags.name == "all") return run_all(options_of(command, flags), flags);
  const Reproduction& experiment = reproduction(flags.name);
  ReproduceOptions options = options_of(command, flags);
  options.models = flags.models == "all" ? experiment.models : split_list(flags.models);
  options.runs = runs_folder(flags, experiment);
  check_options(experiment, options);
  experiment.check(options);
  const std::string self = words_of(flags, options);
  share_cores(experiment, flags, options);
  const Written written = run_one(experiment, options, flags, self);
  if (flags.json) return print_json(written.results);
  const std::string page = flags.out + "/" + written.page_file;
  fmt::print("{}\nwritten: {}.json, {}\n", written.page, page.substr(0, page.size() - 3), page);
}

}  // namespace

void run_reproduce(const CLI::App& command, const ReproduceFlags& flags) {
  work(command, flags);
}

}  // namespace eignn::cli
