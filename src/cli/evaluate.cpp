#include <fmt/format.h>
#include <torch/torch.h>

#include "cli/flags.h"
#include "report/table.h"
#include "run/restored_run.h"
#include "train/metrics.h"

namespace eignn::cli {

namespace {

using Flags = EvaluateFlags;

void work(const Flags& flags) {
  const RestoredRun restored = restore_run(flags.checkpoint, flags.settings.given());
  Json json = {{"checkpoint", flags.checkpoint},
               {"dataset", restored.config.dataset},
               {"model", name(restored.config.model)},
               {"solver", restored.model->solver_name()},
               {"split", restored.split}};
  const Split& split = restored.dataset.splits[restored.split];
  const std::string metric = metric_name(restored.dataset.labels);
  const auto labels = restored.on_device(restored.dataset.labels);
  std::vector<std::vector<std::string>> rows;
  Json losses;
  for (const auto& [part, nodes] : {std::pair<const char*, torch::Tensor>{"train", split.train},
                                    {"val", split.val},
                                    {"test", split.test}}) {
    const auto [loss, score] = evaluate(*restored.model, labels, restored.on_device(nodes));
    json[fmt::format("{}_{}", part, metric)] = score;
    losses[part] = loss;
    rows.push_back({part, std::to_string(nodes.size(0)), fmt::format("{:.4f}", loss), percent(score)});
  }
  json["loss"] = losses;
  if (flags.json) return print_json(json);
  fmt::print("{}", format_table({"split", "nodes", "loss", metric}, rows));
}

}  // namespace

void run_evaluate(const EvaluateFlags& flags) {
  work(flags);
}

}  // namespace eignn::cli
