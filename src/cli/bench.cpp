#include <fmt/format.h>

#include "cli/child_process.h"
#include "cli/common.h"
#include "eignn/error.h"
#include "experiments/measure_training.h"
#include "report/table.h"
#include "train/provenance.h"

namespace eignn {
const char* published_script();  // bench/published.py, compiled in
}

namespace eignn::cli {

namespace {

struct Size {
  int64_t length, per_class;
};

struct Flags {
  std::vector<std::string> sizes;
  TrainConfig config;
  int64_t steps = 20, published_epochs = 100;
  std::string side;
  bool json = false, no_python = false;
};

Size parse_size(const std::string& text) {
  Size size{};
  char rest = 0;
  if (std::sscanf(text.c_str(), "%ld,%ld%c", &size.length, &size.per_class, &rest) != 2 || size.length < 1 ||
      size.per_class < 1)
    throw UsageError(fmt::format(
        "'{}' is no size (--size); give chain length and chains per class, such as 100,20", text));
  return size;
}

Json to_json(const TrainingMeasurement& m) {
  return {{"solver", m.solver},
          {"epoch_ms", m.epoch_ms},
          {"preprocess_s", m.preprocess_s},
          {"peak_memory_bytes", m.peak_memory_bytes},
          {"test_accuracy", m.test_accuracy},
          {"accuracy_epochs", m.accuracy_epochs}};
}

// One side in this process: what the child does.
void measure_side(const Flags& flags) {
  TrainConfig config = flags.config;
  config.solver = flags.side == "ours" ? "auto" : "published";
  print_json(
      to_json(measure_training(config, flags.steps, flags.side == "ours" ? 0 : flags.published_epochs)));
}

Json parse_child(const ChildResult& result, const std::string& what) {
  if (result.exit_code != 0)
    throw InputError(
        fmt::format("{} ended with exit code {} (bench); see the message above", what, result.exit_code));
  try {
    return Json::parse(result.output);
  } catch (const Json::exception&) {
    throw InputError(fmt::format("{} printed no JSON (bench)", what));
  }
}

Json run_side(const std::string& side, const Size& size, const Flags& flags) {
  const TrainConfig& c = flags.config;
  return parse_child(run_child({own_path(),
                                "bench",
                                "chains",
                                "--side",
                                side,
                                "--size",
                                fmt::format("{},{}", size.length, size.per_class),
                                "--dtype",
                                c.dtype,
                                "--threads",
                                std::to_string(c.threads),
                                "--steps",
                                std::to_string(flags.steps),
                                "--published-epochs",
                                std::to_string(flags.published_epochs),
                                "--num-classes",
                                std::to_string(c.num_classes),
                                "--feature-dim",
                                std::to_string(c.feature_dim),
                                "--seed",
                                std::to_string(c.seed),
                                "--json"}),
                     fmt::format("the measurement of {}", side));
}

// The transcription in plain PyTorch, under the system's own python3; null when there is no PyTorch for it.
Json run_transcription(const Size& size, const Flags& flags, int64_t threads) {
  const TrainConfig& c = flags.config;
  const std::string python = "/usr/bin/python3";
  if (run_child(
          {python, "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"})
          .exit_code != 0) {
    warning("no PyTorch for /usr/bin/python3: the transcription is not timed; ./dev bench installs it");
    return nullptr;
  }
  return parse_child(run_child({python, "-", std::to_string(size.length), std::to_string(size.per_class),
                                std::to_string(c.num_classes), std::to_string(c.feature_dim), c.dtype,
                                std::to_string(threads), std::to_string(flags.steps)},
                               published_script()),
                     "bench/published.py");
}

std::vector<std::string> row(const Json& j) {
  const auto& ours = j["ours"];
  const auto& theirs = j["published"];
  auto number = [](const Json& v, const char* format) {
    return fmt::format(fmt::runtime(format), v.get<double>());
  };
  return {fmt::format("({}, {})", j["chain_length"].get<int64_t>(), j["chains_per_class"].get<int64_t>()),
          ours["solver"].get<std::string>(),
          number(ours["epoch_ms"], "{:.2f}"),
          number(theirs["epoch_ms"], "{:.1f}"),
          number(j["epoch_ratio"], "{:.0f}x"),
          j["transcription"].is_null() ? "-" : number(j["transcription"]["epoch_ms"], "{:.1f}"),
          number(ours["preprocess_s"], "{:.4f}"),
          number(theirs["preprocess_s"], "{:.2f}"),
          number(j["preprocess_ratio"], "{:.0f}x"),
          number(Json(ours["peak_memory_bytes"].get<double>() / 1e6), "{:.0f}"),
          number(Json(theirs["peak_memory_bytes"].get<double>() / 1e6), "{:.0f}"),
          percent(ours["test_accuracy"].get<double>()),
          percent(theirs["test_accuracy"].get<double>())};
}

void work(const CLI::App& command, Flags& flags) {
  apply_recipe(flags.config, given_flags(command));
  if (flags.sizes.empty()) flags.sizes = {"100,20", "200,20", "100,30", "200,30"};
  std::vector<Size> sizes;
  for (const auto& text : flags.sizes) sizes.push_back(parse_size(text));
  flags.config.chain_length = sizes[0].length;
  flags.config.chains_per_class = sizes[0].per_class;
  validate(flags.config);
  if (!flags.side.empty()) return measure_side(flags);

  const int64_t threads = use_threads(flags.config.threads);
  Json json = {{"threads", threads},        {"dtype", flags.config.dtype}, {"device", flags.config.device},
               {"machine", machine_name()}, {"commit", built_commit()},    {"seed", flags.config.seed},
               {"sizes", Json::array()}};
  std::vector<std::vector<std::string>> rows;
  for (const Size& size : sizes) {
    note(fmt::format("chains of {} nodes, {} per class …", size.length, size.per_class));
    const Json ours = run_side("ours", size, flags), published = run_side("published", size, flags);
    const Json transcription = flags.no_python ? Json() : run_transcription(size, flags, threads);
    const auto ratio = [&](const char* key) {
      return published[key].get<double>() / ours[key].get<double>();
    };
    Json one = {{"chain_length", size.length},
                {"chains_per_class", size.per_class},
                {"n", flags.config.num_classes * size.per_class * size.length},
                {"m", flags.config.feature_dim},
                {"ours", ours},
                {"published", published},
                {"epoch_ratio", ratio("epoch_ms")},
                {"preprocess_ratio", ratio("preprocess_s")},
                {"transcription", transcription}};
    if (!transcription.is_null())
      one["published_over_transcription"] =
          published["epoch_ms"].get<double>() / transcription["epoch_ms"].get<double>();
    rows.push_back(row(one));
    json["sizes"].push_back(one);
  }
  if (flags.json) return print_json(json);
  fmt::print("training step in ms, preprocessing in s, peak memory in MB; {} threads, {}, {}\n{}", threads,
             flags.config.dtype, machine_name(),
             format_table({"(l, n_c)", "solver", "ours", "published", "ratio", "PyTorch", "prep.",
                           "published", "ratio", "MB", "published", "accuracy", "published"},
                          rows));
  fmt::print("published's accuracy is after {} training steps, ours after a whole run under the recipe\n",
             flags.published_epochs);
}

// ---- PPI

struct PpiFlags {
  TrainConfig config;
  int64_t steps = 3;
  std::string side;
  bool json = false;
};

void bench_ppi(PpiFlags& flags) {
  TrainConfig& c = flags.config;
  c.dataset = "ppi";
  c.head = "plain";  // f = B Z: the equilibrium alone, which is where the two sides differ
  validate(c);
  if (!flags.side.empty()) {
    c.solver = flags.side == "ours" ? "spectral" : "published";
    Json json = to_json(measure_training(c, flags.steps, 1));
    json["test_micro_f1"] = json["test_accuracy"];
    json.erase("test_accuracy");
    if (flags.side == "ours") json["cached_restart_s"] = cached_restart_seconds(c);
    return print_json(json);
  }
  Json json = {{"threads", use_threads(c.threads)}, {"dtype", c.dtype},         {"device", c.device},
               {"machine", machine_name()},         {"commit", built_commit()}, {"seed", c.seed}};
  for (const char* side : {"ours", "published"})
    json[side] =
        parse_child(run_child({own_path(), "bench", "ppi", "--side", side, "--dtype", c.dtype, "--device",
                               c.device, "--threads", std::to_string(c.threads), "--seed",
                               std::to_string(c.seed), "--steps", std::to_string(flags.steps), "--json"}),
                    fmt::format("the measurement of {}", side));
  const auto ratio = [&](const char* key) {
    return json["published"][key].get<double>() / json["ours"][key].get<double>();
  };
  json["epoch_ratio"] = ratio("epoch_ms");
  json["preprocess_ratio"] = ratio("preprocess_s");
  if (flags.json) return print_json(json);
  std::vector<std::vector<std::string>> rows;
  for (const char* side : {"ours", "published"})
    rows.push_back({side, fmt::format("{:.0f}", json[side]["epoch_ms"].get<double>()),
                    fmt::format("{:.2f}", json[side]["preprocess_s"].get<double>()),
                    json[side].contains("cached_restart_s")
                        ? fmt::format("{:.2f}", json[side]["cached_restart_s"].get<double>())
                        : "-",
                    fmt::format("{:.0f}", json[side]["peak_memory_bytes"].get<double>() / 1e6)});
  rows.push_back({"ratio", fmt::format("{:.1f}x", json["epoch_ratio"].get<double>()),
                  fmt::format("{:.1f}x", json["preprocess_ratio"].get<double>()), "", ""});
  fmt::print(
      "PPI, f = B Z, an epoch over the 20 training graphs in ms, preprocessing of all 24 in s; {} threads, "
      "{}, {}\n{}",
      json["threads"].get<int64_t>(), c.dtype, machine_name(),
      format_table({"", "epoch", "preprocessing", "cached re-start", "MB"}, rows));
}

void add_bench_ppi(CLI::App& bench) {
  auto* command =
      add_command(bench, "ppi", "An epoch of PPI and its preprocessing, beside the published algorithm",
                  "  eignn bench ppi\n"
                  "  eignn bench ppi --steps 10 --json\n"
                  "Each side runs in a process of its own. Needs the data set: eignn fetch ppi.");
  auto flags = std::make_shared<PpiFlags>();
  command->add_option("--dtype", flags->config.dtype, "float32 or float64")->capture_default_str();
  command->add_option("--device", flags->config.device, "cpu or cuda")->capture_default_str();
  command->add_option("--threads", flags->config.threads, "Threads of each side; 0: all cores")
      ->capture_default_str();
  command->add_option("--seed", flags->config.seed, "Start and order of the graphs")->capture_default_str();
  command->add_option("--steps", flags->steps, "Epochs to time")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--side", flags->side, "")->group("")->check(CLI::IsMember({"ours", "published"}));
  command->add_flag("--json", flags->json, "Print one JSON object");
  set_work(command, [flags] { bench_ppi(*flags); });
}

}  // namespace

void add_bench(CLI::App& app) {
  auto* bench = add_command(app, "bench", "Measure ours beside the published algorithm, in one run",
                            "  eignn bench chains\n"
                            "  eignn bench chains --size 100,20 --dtype float64 --json\n"
                            "  eignn bench ppi");
  bench->require_subcommand(1);
  add_bench_ppi(*bench);
  add_bench_scaling(*bench);
  auto* command =
      add_command(*bench, "chains", "Training step, preprocessing, memory and accuracy on the paper's chains",
                  "  eignn bench chains\n"
                  "  eignn bench chains --size 200,20 --threads 1 --json\n"
                  "Each side runs in a process of its own, one after the other; the PyTorch transcription\n"
                  "(bench/published.py) is timed with Debian's python3-torch when that is installed.");
  auto flags = std::make_shared<Flags>();
  command->add_option("--size", flags->sizes, "Chain length and chains per class, L,N; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--num-classes", flags->config.num_classes, "Classes")->capture_default_str();
  command->add_option("--feature-dim", flags->config.feature_dim, "Features")->capture_default_str();
  command->add_option("--dtype", flags->config.dtype, "float32 or float64")->capture_default_str();
  command->add_option("--device", flags->config.device, "cpu or cuda")->capture_default_str();
  command->add_option("--threads", flags->config.threads, "Threads of each side; 0: all cores")
      ->capture_default_str();
  command->add_option("--seed", flags->config.seed, "Split, start and dropout")->capture_default_str();
  command->add_option("--steps", flags->steps, "Training steps to time")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--published-epochs", flags->published_epochs,
                   "Training steps of published before its accuracy is read")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--side", flags->side, "")->group("")->check(CLI::IsMember({"ours", "published"}));
  command->add_flag("--no-python", flags->no_python, "Do not time the PyTorch transcription");
  command->add_flag("--json", flags->json, "Print one JSON object");
  set_work(command, [command, flags] { work(*command, *flags); });
}

}  // namespace eignn::cli
