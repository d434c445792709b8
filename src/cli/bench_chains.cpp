// The paper's chains. On long paths published loses the signal, so the accuracies of both are reported there
// and the losses are compared on short chains.
#include <fmt/format.h>

#include "cli/bench.h"
#include "cli/transcription.h"
#include "run/recipes.h"
#include "run/train_run.h"
#include "train/assemble.h"

#include "cli/flags.h"

namespace eignn::cli {

namespace {

constexpr int64_t short_chain = 8;  // nodes: over so few hops published keeps the signal

Json compare(const BenchChainsFlags& flags, const TrainConfig& config, int64_t threads) {
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
  // Our solver is fast enough for a whole run with the recipe.
  const RunResult whole = train(config, {}, false, {}, &dataset);
  json["ours"]["test_accuracy"] = whole.score.test;
  json["ours"]["accuracy_epochs"] = whole.epochs;
  if (!flags.no_python) add_transcription(json, config, dataset, threads);
  return json;
}

}  // namespace

void run_bench_chains(const BenchChainsFlags& flags) {
  TrainConfig base = flags.config;
  apply_recipe(base, flags.settings.names());
  std::vector<TrainConfig> configs;
  for (const BenchChainsFlags::Size& size : flags.parsed_sizes) {
    configs.push_back(base);
    configs.back().chain_length = size.length;
    configs.back().chains_per_class = size.per_class;
    validate(configs.back());
  }
  Json json = bench_provenance(base);
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

}  // namespace eignn::cli
