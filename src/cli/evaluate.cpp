#include <fmt/format.h>
#include <torch/torch.h>

#include "cli/cluster.h"
#include "cli/flags.h"
#include "report/error_bound.h"
#include "report/table.h"
#include "run/restored_run.h"
#include "run/result_json.h"
#include "run/training_record.h"
#include "train/graph_reduction.h"
#include "train/metrics.h"

namespace eignn::cli {

namespace {

// A row for each class, and a column for what its nodes were taken for.
std::string confusion_table(const PartScores& scores, const Dataset& dataset) {
  std::vector<std::string> header = {"truth"};
  std::vector<std::vector<std::string>> rows;
  for (int64_t c = 0; c < dataset.classes; ++c) header.push_back("as " + dataset.class_name(c));
  for (size_t t = 0; t < scores.confusion.size(); ++t) {
    rows.push_back({dataset.class_name(static_cast<int64_t>(t))});
    for (const int64_t count : scores.confusion[t]) rows.back().push_back(std::to_string(count));
  }
  return format_table(header, rows);
}

// Scores and labels at the nodes of one part: those of all processes, on the first one.
struct OnPart {
  std::string name;
  int64_t nodes;
  torch::Tensor f, y;
};

std::vector<OnPart> scores_at_parts(const RestoredRun& restored) {
  std::vector<OnPart> out;
  const auto labels = restored.on_device(restored.dataset.labels);
  for (const auto& part : restored.parts()) {
    if (part.count == 0) continue;
    const auto index = restored.on_device(part.nodes);
    out.push_back({part.name, part.count, restored.collected(scores_of(*restored.model, index)),
                   restored.collected(labels.index_select(0, index))});
  }
  return out;
}

void evaluate_on(const EvaluateFlags& flags, const SpreadOptions* spread) {
  const RestoredRun restored = restore_run(flags.checkpoint, flags.settings.given(), {}, spread);
  const Dataset& dataset = restored.dataset;
  const std::vector<OnPart> parts = scores_at_parts(restored);
  // What knowing the training labels alone would score; on another graph nobody is in training.
  const auto train_labels = restored.collected(dataset.labels.index_select(0, restored.split.train));
  const auto bound = restored.model->error_bound();
  if (!restored.is_first()) return;
  Judge judge;
  judge.metric = restored.metric();
  judge.targets = restored.trained->record()->target;
  Json json = {{"checkpoint", flags.checkpoint},       {"dataset", restored.config.dataset},
               {"model", name(restored.config.model)}, {"solver", restored.model->solver_name()},
               {"split", restored.split_number},       {"graph", restored.which_graph()},
               {"metric", name(judge.metric)}};
  std::vector<Metric> shown;  // those that the labels have, the one that the run goes by first
  std::vector<std::vector<std::string>> rows;
  Json losses;
  for (const char* part : {"train", "val", "test"}) {
    for (const Metric metric : all_metrics()) json[fmt::format("{}_{}", part, name(metric))] = nullptr;
    losses[part] = nullptr;
  }
  PartScores on_test;
  torch::Tensor test_labels;
  for (const auto& [part, nodes, f, y] : parts) {
    const double loss = evaluation_of(f, y, judge).loss;
    const PartScores scores = part_scores(judge.targets.raw(f), y);
    for (const Metric metric : all_metrics()) {
      const auto& value = scores.of(metric);
      json[fmt::format("{}_{}", part, name(metric))] = value ? Json(*value) : Json();
    }
    losses[part] = loss;
    if (shown.empty()) {
      shown.push_back(judge.metric);
      for (const Metric metric : all_metrics())
        if (scores.of(metric) && metric != judge.metric && !(metric == Metric::micro_f1 && scores.accuracy))
          shown.push_back(metric);
    }
    rows.push_back({part, std::to_string(nodes), fmt::format("{:.4f}", loss)});
    for (const Metric metric : shown)
      rows.back().push_back(scores.of(metric) ? metric_text(metric, *scores.of(metric)) : "-");
    if (part == "test") {
      on_test = scores;
      test_labels = y;
    }
  }
  PartScores constant;
  if (train_labels.numel() > 0 && test_labels.defined()) {
    constant = part_scores(constant_scores(train_labels, dataset.classes, test_labels.size(0)),
                           test_labels.to(torch::kCPU));
  }
  json["majority_share"] = constant.accuracy ? Json(*constant.accuracy) : Json();
  if (!on_test.confusion.empty()) json["test_confusion"] = on_test.confusion;
  json["loss"] = losses;
  if (bound) json["error_bound"] = error_bound_json(*bound);
  const auto reduction = reduction_facts(dataset);
  if (reduction) json["reduction"] = reduction_json(*reduction);
  if (flags.json) return print_json(json);
  if (!restored.recognised.unchanged) fmt::print("{}\n", restored.which_graph());
  if (reduction) fmt::print("{}\n", in_words(*reduction));
  if (bound) fmt::print("{}\n", in_words(*bound));
  std::vector<std::string> header = {"split", "nodes", "loss"};
  for (const Metric metric : shown) header.emplace_back(name(metric));
  fmt::print("{}", format_table(header, rows));
  if (const auto& value = constant.of(judge.metric))
    fmt::print("\n{}: test {} {}\n",
               dataset.is_regression() ? "predicting the mean" : "the most frequent class alone",
               name(judge.metric), metric_text(judge.metric, *value));
  constexpr size_t fits_a_screen = 12;
  if (!on_test.confusion.empty() && on_test.confusion.size() <= fits_a_screen)
    fmt::print("\ntest nodes\n{}", confusion_table(on_test, dataset));
}

}  // namespace

void run_evaluate(const EvaluateFlags& flags) {
  in_processes(flags, [&](const SpreadOptions* spread) { evaluate_on(flags, spread); });
}

}  // namespace eignn::cli
