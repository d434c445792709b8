// The universities and Wikipedia, each under its recipe.
#include <fmt/format.h>

#include <algorithm>

#include "cli/bench.h"
#include "cli/transcription.h"
#include "eignn/error.h"
#include "graph/nearest_name.h"
#include "run/recipes.h"
#include "train/assemble.h"

namespace eignn::cli {

namespace {

struct HeterophilicFlags : BenchFlags {
  std::vector<std::string> datasets;
};

const std::vector<std::string>& heterophilic_sets() {
  static const std::vector<std::string> names = {"cornell", "texas", "wisconsin", "chameleon", "squirrel"};
  return names;
}

// An epoch of published in float64 takes half a minute there.
constexpr int64_t many_nodes = 4000;

void work(const CLI::App& command, HeterophilicFlags& flags) {
  take_settings(flags);
  if (flags.datasets.empty()) flags.datasets = heterophilic_sets();
  std::vector<TrainConfig> configs;
  for (const std::string& name : flags.datasets) {
    const auto& known = heterophilic_sets();
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw unknown_name("data set", "dataset", name, known);
    TrainConfig config = flags.config;
    config.dataset = name;
    apply_recipe(config, flags.settings.names());
    // published takes symmetric graphs alone: where the recipe is for a directed one, both sides get the
    // paper's.
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

}  // namespace

void add_bench_heterophilic(CLI::App& bench) {
  auto* command = add_command(
      bench, "heterophilic", "The universities and Wikipedia, under their recipes",
      "  eignn bench heterophilic\n"
      "  eignn bench heterophilic --dataset cornell --blocks 20 --json\n"
      "  eignn bench heterophilic --dataset chameleon --solver spectral\n"
      "Our side takes the solver of the recipe, as train does, or the planner's. Where a recipe is for a\n"
      "directed graph, which published cannot take, both sides get the paper's symmetric one.\n"
      "The PyTorch transcription of the published algorithm (bench/published.py) is timed after them with\n"
      "Debian's python3-torch when that is installed.\n"
      "All five take about seven minutes on two cores. Needs the data sets:\n"
      "eignn fetch cornell texas wisconsin chameleon squirrel.");
  auto flags = std::make_shared<HeterophilicFlags>();
  command
      ->add_option("--dataset", flags->datasets,
                   "cornell, texas, wisconsin, chameleon or squirrel; may be repeated; otherwise all")
      ->allow_extra_args(false);
  add_bench_flags(*command, *flags);
  add_python_flag(*command, *flags);
  set_work(command, [command, flags] { work(*command, *flags); });
}

}  // namespace eignn::cli
