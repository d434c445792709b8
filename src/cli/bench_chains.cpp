// The paper's chains: long paths, where published loses the signal and both accuracies tell; so the losses
// are compared on short ones.
#include <fmt/format.h>

#include "cli/bench.h"
#include "eignn/error.h"

namespace eignn {
const char* published_script();  // bench/published.py, compiled in
}

namespace eignn::cli {

namespace {

constexpr int64_t short_chain = 8;  // hops that published keeps

struct Size {
  int64_t length, per_class;
};

struct ChainsFlags : BenchFlags {
  std::vector<std::string> sizes;
  int64_t published_epochs = 100;
  bool no_python = false;
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

// The transcription in plain PyTorch, under the system's own python3; null when there is no PyTorch for it.
Json run_transcription(const TrainConfig& c, int64_t threads, int64_t steps) {
  const std::string python = "/usr/bin/python3";
  if (run_child(
          {python, "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"})
          .exit_code != 0) {
    warning("no PyTorch for /usr/bin/python3: the transcription is not timed; ./dev bench installs it");
    return nullptr;
  }
  return parse_child(
      run_child({python, "-", std::to_string(c.chain_length), std::to_string(c.chains_per_class),
                 std::to_string(c.num_classes), std::to_string(c.feature_dim), c.dtype,
                 std::to_string(threads), std::to_string(steps)},
                published_script()),
      "bench/published.py");
}

Json compare(const ChainsFlags& flags, const TrainConfig& config) {
  TrainConfig at_short_range = config;
  at_short_range.chain_length = short_chain;
  const Dataset dataset = load_dataset(config), short_dataset = load_dataset(at_short_range);
  Json json = {{"chain_length", config.chain_length},
               {"chains_per_class", config.chains_per_class},
               {"n", dataset.nodes()},
               {"m", dataset.feature_count()}};
  json.update(compare_with_published(flags, config, dataset,
                                     {at_short_range, short_dataset, flags.check_epochs}, "test_accuracy",
                                     flags.published_epochs));
  json["losses"]["chain_length"] = short_chain;
  // Ours is fast enough for a whole run under the recipe.
  const TrainSummary whole = train(config, {}, false, {}, &dataset);
  json["ours"]["test_accuracy"] = whole.score.test;
  json["ours"]["accuracy_epochs"] = whole.epochs;
  return json;
}

void work(const CLI::App& command, ChainsFlags& flags) {
  apply_recipe(flags.config, given_flags(command));
  if (flags.sizes.empty()) flags.sizes = {"100,20", "200,20", "100,30", "200,30"};
  std::vector<TrainConfig> configs;
  for (const auto& text : flags.sizes) {
    const Size size = parse_size(text);
    configs.push_back(flags.config);
    configs.back().chain_length = size.length;
    configs.back().chains_per_class = size.per_class;
    validate(configs.back());
  }
  Json json = bench_provenance(flags.config);
  json["sizes"] = Json::array();
  std::vector<std::pair<std::string, Json>> rows;
  for (const TrainConfig& config : configs) {
    note(fmt::format("chains of {} nodes, {} per class …", config.chain_length, config.chains_per_class));
    Json one = compare(flags, config);
    one["transcription"] = flags.no_python ? Json()
                                           : run_transcription(config, json["threads"].get<int64_t>(),
                                                               one["blocks"].get<int64_t>());
    if (!one["transcription"].is_null())
      one["published_over_transcription"] =
          one["published"]["step_ms"].get<double>() / one["transcription"]["epoch_ms"].get<double>();
    json["sizes"].push_back(one);
    rows.emplace_back(fmt::format("({}, {})", config.chain_length, config.chains_per_class), one);
  }
  if (flags.json) {
    print_json(json);
  } else {
    print_comparisons(json, rows, /*accuracies=*/true);
    fmt::print(
        "The losses are compared on chains of length {}. published's accuracy is after {} epochs, ours after "
        "a "
        "whole run under the recipe\n",
        short_chain, rows[0].second["published"]["accuracy_epochs"].get<int64_t>());
    for (const auto& [name, one] : rows)
      if (!one["transcription"].is_null())
        fmt::print("{}: a step of the transcription in PyTorch takes {:.1f} ms\n", name,
                   one["transcription"]["epoch_ms"].get<double>());
  }
  require_agreement(rows);
}

}  // namespace

void add_bench_chains(CLI::App& bench) {
  auto* command =
      add_command(bench, "chains", "The paper's chains: epoch, preprocessing, memory and accuracy",
                  "  eignn bench chains\n"
                  "  eignn bench chains --size 200,20 --threads 1 --json\n"
                  "The PyTorch transcription of the published algorithm (bench/published.py) is timed with\n"
                  "Debian's python3-torch when that is installed.");
  auto flags = std::make_shared<ChainsFlags>();
  command->add_option("--size", flags->sizes, "Chain length and chains per class, L,N; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--num-classes", flags->config.num_classes, "Classes")->capture_default_str();
  command->add_option("--feature-dim", flags->config.feature_dim, "Features")->capture_default_str();
  add_bench_flags(*command, *flags);
  command
      ->add_option("--published-epochs", flags->published_epochs,
                   "Epochs of published before its accuracy is read")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_flag("--no-python", flags->no_python, "Do not time the PyTorch transcription");
  set_work(command, [command, flags] { work(*command, *flags); });
}

}  // namespace eignn::cli
