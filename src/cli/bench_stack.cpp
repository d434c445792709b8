// A stack of equilibria beside a GCN of the same depth and width, both on one graph.
#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>

#include "cli/bench.h"
#include "cli/transcription.h"
#include "eignn/execution.h"
#include "equilibrium/stopwatch.h"
#include "report/table.h"
#include "run/recipes.h"
#include "train/assemble.h"
#include "train/metrics.h"
#include "train/trainer.h"

namespace eignn {
const char* gcn_script();  // bench/gcn.py, compiled in
}

namespace eignn::cli {

namespace {

// An R-MAT graph with random features, and classes that a linear map of them gives.
Dataset random_problem(const BenchStackFlags& flags) {
  auto generator = at::detail::createCPUGenerator(flags.config.seed);
  const auto X = torch::randn({flags.nodes, flags.features}, generator, torch::kFloat64);
  const auto W = torch::randn({flags.features, flags.classes}, generator, torch::kFloat64);
  return make_dataset(rmat_graph(flags.nodes, flags.edges, flags.config.seed), X, X.mm(W).argmax(1),
                      flags.config.seed);
}

struct EpochCost {
  std::vector<double> step_ms, epoch_ms;
};

// An epoch as `train` has it: a step, and the evaluation of validation.
class Side {
 public:
  Side(const TrainConfig& config, const Dataset& data) : trainer_(config, data, 0, nullptr) {}

  void run(int64_t epochs) {
    for (int64_t e = 0; e < epochs; ++e) {
      const Stopwatch watch;
      trainer_.step(epoch_++);
      const double step = watch.seconds();
      trainer_.evaluate(trainer_.split().val);
      cost_.step_ms.push_back(1e3 * step);
      cost_.epoch_ms.push_back(1e3 * watch.seconds());
    }
  }

  Json json() const { return {{"step_ms", median(cost_.step_ms)}, {"epoch_ms", median(cost_.epoch_ms)}}; }

 private:
  Trainer trainer_;
  EpochCost cost_;
  int64_t epoch_ = 0;
};

TrainConfig stack_config(const BenchStackFlags& flags) {
  TrainConfig config = flags.config;
  config.dataset = "random";
  std::set<std::string> given = flags.settings.names();
  apply_recipe(config, given, "own-stack");
  if (!given.count("source"))
    config.eignn().source = Source::own;  // one equilibrium a layer, as a GCN has one product
  config.eignn().encoder = config.eignn().hidden;
  validate_settings(config);
  return config;
}

TrainConfig gcn_config(const TrainConfig& stack) {
  TrainConfig config = stack;
  GcnOptions model;
  model.layers = stack.eignn().layers;
  model.hidden = stack.eignn().hidden;
  model.dropout = stack.eignn().dropout;
  config.model = model;
  return config;
}

}  // namespace

void run_bench_stack(const BenchStackFlags& flags) {
  const TrainConfig config = stack_config(flags);
  const Execution execution(config);
  const Dataset raw = random_problem(flags);
  const Dataset data = prepared(raw, config);
  const EignnOptions& model = config.eignn();
  Json json = bench_provenance(config);
  json.update({{"nodes", data.nodes()},
               {"arcs", data.graph.symmetrised().arcs()},
               {"layers", model.layers},
               {"hidden", model.hidden},
               {"source", name(model.source)},
               {"gamma", model.gamma}});
  Side ours(config, data), gcn(gcn_config(config), data);
  constexpr int64_t block = 5;
  for (int64_t k = 0; k < flags.blocks; ++k) {
    ours.run(block);
    gcn.run(block);
  }
  json["stack"] = ours.json();
  json["gcn"] = gcn.json();
  json["torch_gcn"] =
      flags.no_python
          ? Json(nullptr)
          : run_torch_script(gcn_script(), "bench/gcn.py", config, data,
                             {std::to_string(model.layers), std::to_string(model.hidden),
                              std::to_string(model.dropout), name(config.dtype),
                              std::to_string(execution.threads()), std::to_string(block * flags.blocks)});
  std::vector<std::vector<std::string>> rows;
  for (const char* side : {"stack", "gcn", "torch_gcn"}) {
    if (json[side].is_null()) continue;
    const double ratio = json["stack"]["epoch_ms"].get<double>() / json[side]["epoch_ms"].get<double>();
    json[fmt::format("stack_over_{}", side)] = ratio;
    rows.push_back({side, fmt::format("{:.1f}", json[side]["step_ms"].get<double>()),
                    fmt::format("{:.1f}", json[side]["epoch_ms"].get<double>()),
                    fmt::format("{:.2f}", ratio)});
  }
  json.erase("stack_over_stack");
  if (flags.json) return print_json(json);
  fmt::print("{} layers of width {} on {} nodes and {} arcs, {} threads, {}, {}\n{}", model.layers,
             model.hidden, data.nodes(), json["arcs"].get<int64_t>(), execution.threads(), name(config.dtype),
             json["machine"].get<std::string>(),
             format_table({"", "step, ms", "epoch, ms", "stack's epoch over it"}, rows));
}

}  // namespace eignn::cli
