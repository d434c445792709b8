// PPI: twenty graphs to train on, two at a time.
#include <fmt/format.h>

#include "cli/bench.h"
#include "paper/side_by_side.h"
#include "train/assemble.h"

#include "cli/flags.h"

namespace eignn::cli {

namespace {

constexpr int64_t epochs_of_a_run = 100;

}  // namespace

void run_bench_ppi(const BenchFlags& flags) {
  TrainConfig config = flags.config;
  config.dataset = "ppi";
  config.eignn().head = Head::plain;  // f = B Z: only the equilibrium differs between the two
  validate(config);
  const Dataset dataset = load_dataset(config);
  Json json = bench_provenance(config);
  json["n"] = dataset.nodes();
  json["m"] = dataset.feature_count();
  json.update(
      compare_with_published(flags, config, dataset, {config, dataset, flags.check_epochs}, "test_micro_f1"));
  const std::string run_key = fmt::format("preprocess_and_{}_epochs_s", epochs_of_a_run);
  for (const char* side : {"ours", "published"})
    json[side][run_key] = json[side]["preprocess_s"].get<double>() +
                          1e-3 * epochs_of_a_run * json[side]["epoch_ms"].get<double>();
  json["run_ratio"] = json["published"][run_key].get<double>() / json["ours"][run_key].get<double>();
  json["ours"]["cached_restart_s"] = cached_restart_seconds(config);

  const std::vector<std::pair<std::string, Json>> rows = {{"ppi", json}};
  if (flags.json) {
    print_json(json);
  } else {
    print_comparisons(json, rows);
    fmt::print(
        "f = B Z; an epoch goes over the 20 training graphs. Preprocessing and {} epochs: {:.1f} s, "
        "published "
        "{:.1f} s, ratio {:.1f}x; a re-start from the cache: {:.2f} s\n",
        epochs_of_a_run, json["ours"][run_key].get<double>(), json["published"][run_key].get<double>(),
        json["run_ratio"].get<double>(), json["ours"]["cached_restart_s"].get<double>());
  }
  require_agreement(rows);
}

}  // namespace eignn::cli
