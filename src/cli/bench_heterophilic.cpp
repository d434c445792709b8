// The universities and the Wikipedia sets, each with its recipe.
#include <fmt/format.h>

#include <algorithm>

#include "cli/bench.h"
#include "cli/transcription.h"
#include "eignn/error.h"
#include "graph/nearest_name.h"
#include "run/recipes.h"
#include "train/assemble.h"

#include "cli/flags.h"

namespace eignn::cli {

namespace {

// An epoch of published in float64 takes half a minute there.
constexpr int64_t many_nodes = 4000;

}  // namespace

void run_bench_heterophilic(const CLI::App& command, const BenchHeterophilicFlags& flags) {
  std::vector<TrainConfig> configs;
  for (const std::string& name : flags.datasets) {
    TrainConfig config = flags.config;
    config.dataset = name;
    apply_recipe(config, flags.settings.names());
    // published takes symmetric graphs only. Where the recipe is for a directed graph, both algorithms get
    // the paper's settings.
    if (config.propagation.direction != Direction::undirected) {
      const TrainConfig paper;
      config.propagation = paper.propagation;
      config.eignn().gamma = paper.eignn().gamma;
    }
    validate(config);
    configs.push_back(config);
  }
  Json json = bench_provenance(flags.config);
  json["datasets"] = Json::array();
  std::vector<std::pair<std::string, Json>> rows;
  for (const TrainConfig& config : configs) {
    const Dataset dataset = load_dataset(config);
    note(fmt::format("{}, {} nodes …", config.dataset, dataset.nodes()));
    const bool chosen = command.get_option("--check-epochs")->count() > 0;
    const int64_t epochs = !chosen && dataset.nodes() > many_nodes ? 1 : flags.check_epochs;
    Json one = {{"dataset", config.dataset}, {"n", dataset.nodes()}, {"m", dataset.feature_count()}};
    one.update(compare_with_published(flags, config, dataset, {config, dataset, epochs}, "test_accuracy"));
    if (!flags.no_python) add_transcription(one, config, dataset, json["threads"].get<int64_t>());
    json["datasets"].push_back(one);
    rows.emplace_back(config.dataset, one);
  }
  if (flags.json) {
    print_json(json);
  } else {
    print_comparisons(json, rows);
    print_transcriptions(rows);
  }
  require_agreement(rows);
}

}  // namespace eignn::cli
