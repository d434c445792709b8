#include "experiments/reproduce.h"

#include <fmt/format.h>

#include "cli/common.h"
#include "cli/run_jobs.h"
#include "data/atomic_file.h"
#include "eignn/error.h"
#include "graph/nearest_name.h"
#include "train/config.h"
#include "train/provenance.h"

namespace eignn::cli {

namespace {

struct Flags {
  std::string name, models = "eignn", rows, out = "results", runs = "runs/reproduce";
  TrainConfig machine;
  int64_t seeds = 1, jobs = 1;
  bool quick = false, json = false;
};

std::vector<std::string> split_list(const std::string& list) {
  std::vector<std::string> out;
  for (size_t at = 0; at < list.size();) {
    const size_t comma = std::min(list.find(',', at), list.size());
    out.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  return out;
}

void check_models(const std::string& list) {
  const std::vector<std::string> known = {"eignn"};  // whose figures the tables have
  for (const std::string& model : split_list(list))
    if (std::find(known.begin(), known.end(), model) == known.end())
      throw UsageError(unknown_name("model", "--models", model, known));
}

void work(const CLI::App& command, const Flags& flags) {
  if (flags.name.empty())
    throw UsageError("no experiment is named (eignn reproduce); give heterophilic or ppi");
  const Experiment& wanted = experiment(flags.name);
  check_models(flags.models);
  if (flags.seeds < 1)
    throw UsageError(fmt::format("{} is out of range (--seeds); give 1 or more", flags.seeds));
  check_jobs(flags.jobs);
  ReproduceOptions options;
  options.quick = flags.quick;
  options.seeds = flags.seeds;
  options.parallel = flags.jobs;
  options.rows = split_list(flags.rows);
  options.runs = fmt::format("{}/{}", flags.runs, flags.name);
  const auto texts = to_strings(flags.machine);
  std::string said;
  for (const auto& name : given_flags(command)) {
    if (name == "seed") throw UsageError("the seeds are 0, 1, … (--seed); say how many with --seeds");
    options.machine[name] = texts.at(name);
    said += fmt::format(" --{} {}", name, texts.at(name));
  }
  std::string self = fmt::format("eignn reproduce {} --models {}", flags.name, flags.models);
  if (!flags.rows.empty()) self += " --rows " + flags.rows;
  if (flags.quick) self += " --quick";
  if (flags.seeds != 1) self += fmt::format(" --seeds {}", flags.seeds);
  if (flags.out != Flags().out) self += " --out " + flags.out;
  if (flags.runs != Flags().runs) self += " --runs " + flags.runs;
  self += said;
  JobOptions jobs;
  jobs.parallel = flags.jobs;
  jobs.quiet = flags.json;
  jobs.keep_models = true;
  jobs.resume_words = self;
  ResultJson table =
      reproduce(wanted, options, job_runner(jobs),
                [&](const std::string& label, size_t done, size_t all, const ResultJson& run) {
                  const std::string metric = metric_of(run);
                  if (!flags.json)
                    note(fmt::format("{}: run {} of {}: validation {}, test {}", label, done, all,
                                     percent(run["val_" + metric]), percent(run["test_" + metric])));
                });
  table["provenance"] = {{"command", self},
                         {"machine", machine_name()},
                         {"version", version()},
                         {"table_commit", built_commit()}};
  const std::string stem = fmt::format("{}/{}{}", flags.out, flags.name, flags.quick ? "-quick" : "");
  const std::string page = to_markdown(wanted, table);
  std::filesystem::create_directories(flags.out);
  write_file_atomically(stem + ".json", table.dump(1) + "\n");
  write_file_atomically(stem + ".md", page);
  if (flags.json) return print_json(table);
  fmt::print("{}\nwritten: {}.json, {}.md\n", page, stem, stem);
}

}  // namespace

void add_reproduce(CLI::App& app) {
  auto* command = add_command(
      app, "reproduce", "Run one of the paper's experiments again, beside the paper's figures",
      "  eignn reproduce heterophilic --models eignn\n"
      "  eignn reproduce ppi --models eignn --device cuda --tf32 on\n"
      "  eignn reproduce heterophilic --quick\n"
      "Interrupted, the same command goes on where it stopped. Needs the data sets: eignn fetch --list.");
  auto flags = std::make_shared<Flags>();
  command->add_option("experiment", flags->name, "heterophilic or ppi");
  command->add_option("--models", flags->models, "Models, with commas between them")->capture_default_str();
  command->add_option("--rows", flags->rows,
                      "Only these rows, such as cornell,texas,chameleon-plain-symmetric; all when not given");
  command->add_flag("--quick", flags->quick, "A taste: two splits; ppi: 50 epochs");
  command->add_option("--seeds", flags->seeds, "Runs of every split, seeds 0, 1, …")->capture_default_str();
  command->add_option("--out", flags->out, "The folder of NAME.json and NAME.md")->capture_default_str();
  command->add_option("--runs", flags->runs, "The folder that keeps the runs")->capture_default_str();
  command->add_option("--jobs", flags->jobs, "Runs at a time")->capture_default_str();
  add_machine_flags(*command, flags->machine);
  command->add_flag("--json", flags->json, "Print the table as one JSON object");
  set_work(command, [command, flags] { work(*command, *flags); });
}

}  // namespace eignn::cli
