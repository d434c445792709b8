// The paper's chains: long paths, where published loses the signal and both accuracies tell; so the losses
// are compared on short ones.
#include <fmt/format.h>

#include "cli/bench.h"
#include "cli/transcription.h"
#include "eignn/error.h"
#include "run/recipes.h"
#include "run/train_run.h"
#include "train/assemble.h"

#include "cli/flags.h"

namespace eignn::cli {

namespace {

constexpr int64_t short_chain = 8;  // hops that published keeps

struct Size {
  int64_t length, per_class;
};

using ChainsFlags = BenchChainsFlags;

Size parse_size(const std::string& text) {
  Size size{};
  char rest = 0;
  if (std::sscanf(text.c_str(), "%ld,%ld%c", &size.length, &size.per_class, &rest) != 2 || size.length < 1 ||
      size.per_class < 1)
    throw UsageError(fmt::format(
        "'{}' is no size (--size); give chain length and chains per class, such as 100,20", text));
  return size;
}

Json compare(const ChainsFlags& flags, const TrainConfig& config, int64_t threads) {
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
  const RunResult whole = train(config, {}, false, {}, &dataset);
  json["ours"]["test_accuracy"] = whole.score.test;
  json["ours"]["accuracy_epochs"] = whole.epochs;
  if (!flags.no_python) add_transcription(json, config, dataset, threads);
  return json;
}

void work(ChainsFlags& flags) {
  take_settings(flags);
  apply_recipe(flags.config, flags.settings.names());
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
    const Json one = compare(flags, config, json["threads"].get<int64_t>());
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
    print_transcriptions(rows);
  }
  require_agreement(rows);
}

}  // namespace

void run_bench_chains(BenchChainsFlags& flags) {
  work(flags);
}

}  // namespace eignn::cli
