// What can be said against a command's flags without libtorch. The front refuses here what is wrong, before
// it loads the engine; the engine comes by here too, since some checks settle what the flags mean.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <thread>
#include <utility>

#include "cli/flags.h"
#include "cluster/launched.h"
#include "data/atomic_file.h"
#include "data/text_lines.h"
#include "data/utf8.h"
#include "graph/nearest_name.h"
#include "paper/names.h"
#include "run/portfolio.h"
#include "run/recipes.h"
#include "train/config_toml.h"

namespace eignn::cli {

namespace {

void check_jobs(int64_t jobs) {
  if (jobs < 1 || jobs > 1024)
    throw UsageError(fmt::format("{} is out of range (--jobs); give 1 to 1024", jobs));
}

void require_known(const char* what, const char* field, const std::string& name,
                   const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw unknown_name(what, field, name, known);
}

// More threads than this only get in each other's way, and each takes memory of its own.
void check_threads(const TrainConfig& config) {
  const int64_t most = 8 * std::max<int64_t>(2, std::thread::hardware_concurrency());
  if (config.threads > most)
    throw UsageError(
        fmt::format("{} is out of range (--threads); give 0 to {} on this machine", config.threads, most));
}

// The settings that were given, on top of those that `config` has.
void settle(TrainConfig& config, const SettingFlags& settings) {
  const auto given = settings.given();
  assign(config, given);
  validate(config);
  if (given.count("threads")) check_threads(config);
}

// A file that is missing is refused in its reader's words, before the engine is loaded.
void require_file(const std::string& path) {
  if (!std::filesystem::exists(path)) open_for_reading(path);
}

// The same for a model: its file, or a folder that holds it or runs.
void require_checkpoint(const std::string& path) {
  require_file(path);
  if (!std::filesystem::is_directory(path)) return;
  for (const char* name : {"/resume.safetensors", "/split-0"})
    if (std::filesystem::exists(path + name)) return;
  require_file(path + "/model.safetensors");
}

// A checkpoint to restore, and settings on top of its own: those of the data and the machine.
void check_restore(const CLI::App& command, const SettingFlags& settings, const std::string& checkpoint) {
  require_flags(command, {"--checkpoint"});
  TrainConfig probe;
  settle(probe, settings);
  require_checkpoint(checkpoint);
}

std::vector<std::string> split_list(const std::string& list) {
  std::vector<std::string> out;
  for (size_t at = 0; at < list.size();) {
    const size_t comma = std::min(list.find(',', at), list.size());
    out.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  return out;
}

// A whole number of 1 or more.
bool is_count(const std::string& text, int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 1;
}

// "90s", "10m", "2h" or seconds.
double seconds_of(const std::string& text) {
  double value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  const std::string unit(end, last);
  const double seconds = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (error != std::errc() || seconds == 0 || !(value > 0) || !std::isfinite(value))
    throw UsageError(
        fmt::format("'{}' is no time to search in (--budget); give one such as 90s, 10m or 2h", text));
  return value * seconds;
}

// The flags of --search auto, and those that it leaves no room for.
void check_auto_search(TrainFlags& flags) {
  if (!flags.searches_automatically()) {
    for (const auto& [flag, given] : {std::pair("--budget", !flags.budget.empty()),
                                      {"--trials", flags.trials != 0},
                                      {"--splits", flags.splits != 1},
                                      {"--models", !flags.models.empty()}})
      if (given)
        throw UsageError(fmt::format("this is for an automatic search ({}); give --search auto too", flag));
    return;
  }
  if (flags.jobs > 1)
    throw UsageError("an automatic search gives all cores to one run at a time (--jobs); leave --jobs out");
  if (flags.batch_runs > 0)
    throw UsageError(
        "an automatic search tries different models, which make no batch (--batch-runs); leave --batch-runs "
        "out");
  if (!flags.recipe.empty())
    throw UsageError(
        "an automatic search starts from the data set's own recipe (--recipe); leave --recipe out");
  if (!flags.budget.empty() && flags.trials != 0)
    throw UsageError(
        "a search ends by its budget or after so many candidates (--trials); give one of the two");
  if (flags.trials < 0 || flags.trials > 10'000)
    throw UsageError(fmt::format("{} is out of range (--trials); give 1 to 10000", flags.trials));
  if (flags.splits < 1)
    throw UsageError(fmt::format("{} is out of range (--splits); give 1 or more", flags.splits));
  if (!flags.budget.empty()) flags.budget_seconds = seconds_of(flags.budget);
  if (!flags.models.empty() && flags.given.count("model"))
    throw UsageError("the models of a search are a list (--model); give --models alone");
  flags.model_list =
      flags.models.empty() ? std::vector<std::string>{name(flags.config.model)} : split_list(flags.models);
  for (const std::string& model : flags.model_list)
    require_known("model of a search", "models", model, Portfolio::models());
}

// "2x4": parts of the rows times parts of the columns, as many as there are processes.
void check_grid(GridFlag& flags) {
  const std::string& grid = flags.grid;
  const int64_t processes = Launched::from_environment().processes;
  int64_t &rows = flags.grid_rows, &columns = flags.grid_columns;
  require_known("order", "order", flags.order, {"given", "bfs", "ptscotch"});
  if (processes == 1 && flags.order != "given")
    throw UsageError("one process takes nodes as they come (--order); start several with mpirun");
  if (grid.empty()) return;
  if (processes == 1)
    throw UsageError("one process has all rows and columns (--grid); start several with mpirun");
  const size_t times = grid.find('x');
  if (times == std::string::npos || !is_count(grid.substr(0, times), rows) ||
      !is_count(grid.substr(times + 1), columns)) {
    throw UsageError(fmt::format(
        "'{}' is no grid (--grid); give parts of the rows times parts of the columns, such as 2x4", grid));
  }
  if (rows > processes || columns > processes || rows * columns != processes) {
    throw UsageError(
        fmt::format("the places of {} are not {}, as many as there are processes (--grid); give "
                    "parts of the rows times parts of the columns",
                    grid, processes));
  }
}

// What several processes train together is one run.
void check_together(TrainFlags& flags) {
  const int processes = Launched::from_environment().processes;
  check_grid(flags);
  if (processes == 1) return;
  for (const auto& [flag, given] : {std::pair("--search", !flags.search_file.empty()),
                                    {"--jobs", flags.jobs > 1},
                                    {"--batch-runs", flags.batch_runs > 0},
                                    {"--split", flags.config.split == "all"}}) {
    if (given) {
      throw UsageError(fmt::format(
          "{} processes train one run together, and not several ({}); give --split 0, or leave out mpirun",
          processes, flag));
    }
  }
}

}  // namespace

void check(TrainFlags& flags) {
  check_jobs(flags.jobs);
  if (flags.batch_runs > 0 && flags.jobs > 1)
    throw UsageError("a batch is one job (--batch-runs); leave out --jobs");
  if (flags.batch_runs > 0 && !flags.search_file.empty() && flags.out.empty())
    throw UsageError("the batches of a search need a folder for their runs (--batch-runs); give --out too");
  const auto texts = flags.settings.given();
  flags.given = flags.settings.names();
  if (!flags.resume.empty()) {
    std::set<std::string> others = flags.given;
    others.erase("epochs");
    if (!flags.out.empty() || !flags.config_file.empty() || !flags.search_file.empty() ||
        !flags.recipe.empty() || !others.empty())
      throw UsageError(
          "--resume takes everything from the run folder (--resume); give it alone, or with --epochs or "
          "--json");
    if (const auto epochs = texts.find("epochs"); epochs != texts.end()) {
      assign(flags.config, "epochs", epochs->second);
      validate(flags.config);
      flags.resumed_epochs = flags.config.epochs;
    }
    return check_together(flags);
  }
  if (flags.jobs > 1 && flags.out.empty())
    throw UsageError("several jobs at a time need a folder to meet in (--jobs); give --out too");
  // The model first: which other settings there are is its business.
  if (const auto model = texts.find("model"); model != texts.end())
    assign(flags.config, "model", model->second);
  if (!flags.config_file.empty()) {
    const std::string text = read_small_file(flags.config_file);
    flags.config_changed = was_changed(text);
    flags.given = apply_toml(flags.config, text, flags.given, flags.config_file);
  }
  for (const auto& [name, text] : texts)
    if (name != "model") assign(flags.config, name, text);
  validate(flags.config);
  if (texts.count("threads")) check_threads(flags.config);
  if (!flags.search_file.empty() && flags.given.count("split"))
    throw UsageError(
        "a search judges by the data set's first splits, or those that its file names (--split); leave "
        "--split out");
  check_together(flags);
  check_auto_search(flags);
  if (flags.searches_automatically()) return;  // the candidates apply their models' recipes
  flags.recipe_used = apply_recipe(flags.config, flags.given, flags.recipe, &flags.by_recipe);
  validate(flags.config);
  if (!flags.search_file.empty()) require_file(flags.search_file);
  if (flags.search_file.empty() && flags.batch_runs > 0 && flags.config.split != "all")
    throw UsageError("a batch is made of the data set's splits (--batch-runs); give --split all too");
}

void check(const CLI::App& command, EvaluateFlags& flags) {
  check_grid(flags);
  check_restore(command, flags.settings, flags.checkpoint);
}

void check(const CLI::App& command, PredictFlags& flags) {
  // Where nodes have no features of their own, neighbours are all there is to say.
  flags.has_node = command.count("--node") > 0 || command.count("--neighbours") > 0;
  require_flags(command, flags.has_node ? std::vector<std::string>{"--checkpoint"}
                                        : std::vector<std::string>{"--checkpoint", "--out"});
  if (!flags.out.empty() && !ends_with(flags.out, ".csv") && !ends_with(flags.out, ".npy"))
    throw UsageError(fmt::format(
        "the ending says the format, and '{}' has none of them (--out); use .csv or .npy", flags.out));
  if (command.count("--top") > 0 && flags.top < 1)
    throw UsageError(fmt::format("{} is out of range (--top); give 1 or more", flags.top));
  if ((flags.top > 0 || flags.probabilities) && ends_with(flags.out, ".npy"))
    throw UsageError(
        "an .npy always has the probabilities of all classes (--top, --probabilities); use .csv, or leave "
        "them out");
  check_grid(flags);
  check_restore(command, flags.settings, flags.checkpoint);
}

void check(const CLI::App& command, AttackFlags& flags) {
  require_flags(command, {"--checkpoint", "--method", "--epsilon"});
  AttackOptions options;
  options.steps = flags.steps;
  options.seed = flags.noise_seed;
  options.method = parse_attack_method(flags.method);
  options.targets = parse_attack_targets(flags.targets);
  options.objective = parse_attack_objective(flags.objective);
  options.certify = !flags.no_certificate;
  for (const char* flag : {"--step", "--steps"})
    if (options.method != AttackMethod::pgd && command.count(flag) > 0)
      throw UsageError(fmt::format("{} takes no steps ({}); use --method pgd", flags.method, flag));
  if (options.method == AttackMethod::noise && command.count("--objective") > 0)
    throw UsageError("noise has no objective (--objective); use --method fgsm or pgd");
  for (const double epsilon : flags.epsilons) {
    options.epsilon = epsilon;
    options.step = command.count("--step") > 0 ? flags.step : epsilon / 10;
    validate(options);
    flags.attacks.push_back(options);
  }
  check_restore(command, flags.settings, flags.checkpoint);
}

void check(const CLI::App& command, ExplainFlags& flags) {
  require_flags(command, {"--checkpoint"});
  if (flags.influence) {
    for (const char* flag : {"--node", "--class", "--edges", "--raw-units", "--top"})
      if (command.count(flag) > 0)
        throw UsageError(fmt::format(
            "{} is about one score, and --influence about many nodes ({}); give one of them", flag, flag));
    if (flags.sample < 1)
      throw UsageError(fmt::format("{} is out of range (--sample); give 1 or more", flags.sample));
  } else {
    for (const char* flag : {"--sample", "--beside"})
      if (command.count(flag) > 0)
        throw UsageError(fmt::format("{} belongs to --influence ({}); give both, or none", flag, flag));
    require_flags(command, {"--node"});
  }
  if (flags.edges && flags.raw_units) throw UsageError("edges have no units (--raw-units); leave it out");
  if (flags.top < 0) throw UsageError(fmt::format("{} is out of range (--top); give 0 or more", flags.top));
  const std::vector<std::string> endings = flags.influence ? std::vector<std::string>{".csv", ".svg"}
                                           : flags.edges
                                               ? std::vector<std::string>{".csv"}
                                               : std::vector<std::string>{".csv", ".dot", ".graphml"};
  if (!flags.out.empty() && std::none_of(endings.begin(), endings.end(),
                                         [&](const auto& end) { return ends_with(flags.out, end); }))
    throw UsageError(fmt::format("the ending says the format, and '{}' has none of them (--out); use {}",
                                 flags.out, fmt::join(endings, " or ")));
  check_grid(flags);
  const bool picture = ends_with(flags.out, ".dot") || ends_with(flags.out, ".graphml");
  for (const auto& [flag, given] :
       {std::pair("--edges", flags.edges), {"--influence", flags.influence}, {"--out", picture}}) {
    if (given && Launched::from_environment().processes > 1) {
      throw UsageError(
          fmt::format("several processes explain a score by nodes and features alone ({}); leave {}", flag,
                      picture ? "it out, or write a .csv" : "out mpirun"));
    }
  }
  check_restore(command, flags.settings, flags.checkpoint);
}

void check(const CLI::App& command, SolveFlags& flags) {
  require_flags(command, {"--graph", "--features", "--weight", "--out"});
  std::set<std::string> paths;
  for (const auto* path :
       {&flags.out, &flags.exponents, &flags.grad_weight, &flags.grad_features, &flags.grad_exponents})
    if (!path->empty() && !paths.insert(*path).second)
      throw UsageError(
          fmt::format("two outputs would be written to one file ({}); give each a name of its own", *path));
  const bool wants_gradient = !flags.grad_weight.empty() || !flags.grad_features.empty();
  if (wants_gradient && flags.cotangent.empty())
    throw UsageError(
        "a gradient needs the cotangent ∂L/∂Z (--grad-weight, --grad-features); give --cotangent Y.npy");
  if (!wants_gradient && !flags.cotangent.empty())
    throw UsageError(
        "a cotangent is of no use alone (--cotangent); give --grad-weight or --grad-features too");
  if (!flags.grad_exponents.empty() && flags.grad_features.empty())
    throw UsageError(
        "exponents of a gradient that is not asked for (--grad-exponents); give --grad-features too");
  settle(flags.config, flags.settings);
}

void check(InspectFlags& flags) {
  const auto given = flags.settings.names();
  const int subjects = (given.count("dataset") > 0) + !flags.graph.empty() + !flags.checkpoint.empty();
  if (subjects != 1)
    throw UsageError(fmt::format(
        "{} things to describe (eignn inspect); give one of --dataset, --graph and --checkpoint", subjects));
  settle(flags.config, flags.settings);
  flags.recipe_used = apply_recipe(flags.config, given);
  if (!flags.checkpoint.empty()) require_checkpoint(flags.checkpoint);
  const int processes = Launched::from_environment().processes;
  if (flags.ranks == 0 && processes > 1) flags.ranks = processes;
  if (flags.ranks < 0)
    throw UsageError(fmt::format("{} is out of range (--ranks); give 1 or more", flags.ranks));
  if (flags.ranks > 0 && given.count("dataset") == 0)
    throw UsageError("several processes share a data set (--ranks); give --dataset");
}

void check(const CLI::App& command, ReproduceFlags& flags) {
  if (flags.name.empty())
    throw UsageError("no experiment is named (eignn reproduce); give one of those in eignn reproduce --help");
  auto names = experiment_names();
  names.emplace_back("all");
  require_known("experiment", "eignn reproduce", flags.name, names);
  // They are in the page that is written at the end, as part of the command.
  for (const auto& [flag, folder] : {std::pair("--out", flags.out), std::pair("--runs", flags.runs)})
    if (!is_utf8(folder))
      throw UsageError(fmt::format("the folder's name is not UTF-8 ({}); give another", flag));
  if (command.get_option("--seeds")->count() > 0 && flags.seeds < 1)
    throw UsageError(fmt::format("{} is out of range (--seeds); give 1 or more", flags.seeds));
  if (command.get_option("--jobs")->count() > 0) check_jobs(flags.jobs);
  flags.model_list = split_list(flags.models);
  flags.row_list = split_list(flags.rows);
  for (const std::string& text : split_list(flags.lengths)) {
    int64_t length = 0;
    if (!is_count(text, length))
      throw UsageError(fmt::format(
          "{} is no length (--lengths); give whole numbers with commas, such as 10,50", quote(text)));
    flags.length_list.push_back(length);
  }
  const auto settings = flags.settings.given();
  if (settings.count("seed")) throw UsageError("the seeds are 0, 1, … (--seed); say how many with --seeds");
  TrainConfig probe;
  settle(probe, flags.settings);
  if (flags.redraw && (!flags.models.empty() || !flags.rows.empty() || !flags.lengths.empty() ||
                       flags.seeds > 0 || flags.jobs > 0 || !settings.empty())) {
    throw UsageError(
        "pages are drawn from the results that are there, and nothing is run (--redraw); give it with "
        "--quick, --out and --json alone");
  }
  if (flags.name == "all" && (!flags.models.empty() || !flags.rows.empty() || !flags.lengths.empty()))
    throw UsageError("these belong to one experiment (--models, --rows, --lengths); give them with its name");
}

void check(BenchFlags& flags) {
  settle(flags.config, flags.settings);
}

void check(BenchChainsFlags& flags) {
  check(static_cast<BenchFlags&>(flags));
  if (flags.sizes.empty()) flags.sizes = {"100,20", "200,20", "100,30", "200,30"};
  for (const std::string& text : flags.sizes) {
    const auto words = split_list(text);
    BenchChainsFlags::Size size{};
    if (words.size() != 2 || !is_count(words[0], size.length) || !is_count(words[1], size.per_class))
      throw UsageError(fmt::format(
          "'{}' is no size (--size); give chain length and chains per class, such as 100,20", text));
    flags.parsed_sizes.push_back(size);
  }
}

void check(BenchHeterophilicFlags& flags) {
  check(static_cast<BenchFlags&>(flags));
  if (flags.datasets.empty()) flags.datasets = heterophilic_sets();
  for (const std::string& name : flags.datasets)
    require_known("data set", "dataset", name, heterophilic_sets());
}

void check(BenchPlannerFlags& flags) {
  settle(flags.config, flags.settings);
}

void check(BenchScalingFlags& flags) {
  settle(flags.config, flags.settings);
  if (!flags.point.empty()) return;
  auto axes = scaling_axes();
  axes.emplace_back("all");
  require_known("axis", "axis", flags.axis, axes);
  if (flags.solvers.empty()) flags.solvers = scaling_solvers();
  for (const auto& solver : flags.solvers) require_known("solver", "solvers", solver, scaling_solvers());
  if (flags.quick) flags.up_to = std::min<int64_t>(flags.up_to, 10'000);
  constexpr int64_t least = 1000;
  if (flags.up_to < least)
    throw UsageError(fmt::format("{} is out of range (--up-to); give {} nodes or more", flags.up_to, least));
}

void check(BenchClusterFlags& flags) {
  settle(flags.config, flags.settings);
  check_grid(flags);
  if (flags.edges > flags.nodes * (flags.nodes - 1) / 2)
    throw UsageError(fmt::format("{} nodes have fewer pairs (--edges); give fewer edges", flags.nodes));
  for (const std::string& text : flags.predict) {
    std::vector<int64_t> numbers;
    for (const std::string& word : split_list(text)) {
      numbers.push_back(0);
      if (!is_count(word, numbers.back())) numbers.clear();
      if (numbers.empty()) break;
    }
    if (numbers.size() != 6) {
      throw UsageError(
          fmt::format("'{}' is no problem (--predict); give nodes, edges, features, classes, labelled "
                      "nodes and processes, such as 1000000,10000000,64,16,50000,8",
                      text));
    }
    const auto number = [&](size_t k) { return static_cast<double>(numbers[k]); };
    flags.predictions.push_back({text, number(0), number(1), number(2), number(3), number(4), numbers[5]});
  }
}

void check(BenchStackFlags& flags) {
  settle(flags.config, flags.settings);
  const int64_t most = flags.nodes * (flags.nodes - 1) / 2;
  if (flags.edges > most)
    throw UsageError(
        fmt::format("{} nodes have {} pairs at most (--edges); give fewer edges", flags.nodes, most));
}

}  // namespace eignn::cli
