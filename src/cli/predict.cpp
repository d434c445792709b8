#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <map>

#include "cli/cluster.h"
#include "cli/flags.h"
#include "data/disk_space.h"
#include "data/tensor_bytes.h"
#include "data/text_lines.h"
#include "eignn/error.h"
#include "report/table.h"
#include "run/checkpoint.h"
#include "run/disk_estimate.h"
#include "run/predictions_csv.h"
#include "run/restored_run.h"
#include "train/metrics.h"

namespace eignn::cli {

namespace {

// The new node is the last one, also among these predictions.
Json new_node_json(const RestoredRun& restored, const Predictions& predictions, int64_t top) {
  const TrainedModel& trained = *restored.trained;
  Json json = {{"node", restored.named().node_name(restored.all_nodes() - 1)}};
  if (trained.is_regression()) {
    Json values;
    for (int64_t k = 0; k < trained.classes(); ++k)
      values[trained.class_name(k)] = predictions.values[-1][k].item<double>();
    json["predicted"] = trained.classes() == 1 ? values.begin().value() : values;
    return json;
  }
  const auto p = predictions.probabilities.select(0, -1).contiguous();
  const double* row = p.data_ptr<double>();
  if (trained.multi_label()) {
    json["predicted"] = Json::array();
    for (int64_t k = 0; k < trained.classes(); ++k)
      if (row[k] > 0.5) json["predicted"].push_back(trained.class_name(k));
  } else {
    json["predicted"] = trained.class_name(likeliest(row, trained.classes(), 1)[0]);
  }
  json["probabilities"] = Json::array();
  for (const int64_t k : likeliest(row, trained.classes(), top))
    json["probabilities"].push_back({{"class", trained.class_name(k)}, {"probability", row[k]}});
  return json;
}

void print_node(const RestoredRun& restored, const Json& json) {
  const Json& predicted = json["predicted"];
  if (restored.trained->is_regression() && predicted.is_number())
    return fmt::print("{:.9g}\n", predicted.get<double>());
  std::vector<std::vector<std::string>> rows;
  if (restored.trained->is_regression()) {
    for (const auto& [name, value] : predicted.items())
      rows.push_back({name, fmt::format("{:.9g}", value.get<double>())});
    return fmt::print("{}", format_table({"number", "predicted"}, rows));
  }
  for (const Json& entry : json["probabilities"])
    rows.push_back(
        {entry["class"].get<std::string>(), fmt::format("{:.4f}", entry["probability"].get<double>())});
  fmt::print("{}", format_table({"class", "probability"}, rows));
}

// How many nodes each class was predicted for.
Json predicted_counts(const RestoredRun& restored, const Predictions& predictions) {
  const TrainedModel& trained = *restored.trained;
  Json counts;
  for (int64_t k = 0; k < trained.classes(); ++k)
    counts[trained.class_name(k)] =
        restored.total((trained.multi_label() ? predictions.classes.select(1, k) : predictions.classes == k)
                           .sum()
                           .item<int64_t>());
  return counts;
}

void write_predictions(const RestoredRun& restored, const Predictions& predictions,
                       const PredictFlags& flags) {
  if (flags.out.back() != 'v') {  // .npy, as the check of the flags has seen
    const auto& rows = predictions.values.defined() ? predictions.values : predictions.probabilities;
    return restored.ranks() ? write_npy_together(flags.out, restored.data, rows) : write_npy(flags.out, rows);
  }
  PredictionColumns columns;
  columns.top = flags.top;
  columns.probabilities = flags.probabilities || flags.top == 0;
  if (restored.ranks()) {
    return write_predictions_together(flags.out, restored.data, restored.split, predictions,
                                      restored.trained->class_names(), columns);
  }
  write_predictions_csv(flags.out, restored.data, restored.split, predictions,
                        restored.trained->class_names(), columns);
}

// About how many bytes write_predictions() will take.
double bytes_of_predictions(const RestoredRun& restored, const PredictFlags& flags) {
  const auto classes = static_cast<double>(restored.trained->classes()),
             nodes = static_cast<double>(restored.all_nodes());
  if (flags.out.back() != 'v') return nodes * classes * sizeof(double);
  const bool all = flags.probabilities || flags.top == 0;
  const double here = bytes_of_node_rows(
      restored.data, std::min(2 * static_cast<double>(flags.top), 2 * classes) + (all ? classes : 0));
  return here * nodes / static_cast<double>(std::max<int64_t>(restored.data.nodes(), 1));
}

// Those of the last node of all, on the first process.
Predictions of_last_node(const RestoredRun& restored) {
  const int64_t last = restored.all_nodes() - 1,
                here = restored.ranks() ? restored.dataset.spread->own.place(last) : last;
  const auto index = here >= 0 ? torch::tensor({here}) : torch::empty({0}, torch::kInt64);
  const auto scores = restored.collected(scores_of(*restored.model, restored.on_device(index)));
  return restored.is_first() ? predictions_of(*restored.trained, scores) : Predictions();
}

void predict_on(const PredictFlags& flags, const SpreadOptions* spread) {
  DescribeNode describe;
  if (flags.has_node)
    describe = [&](const Dataset& data) { return parse_node(data, flags.node, flags.neighbours); };
  const RestoredRun restored = restore_run(flags.checkpoint, flags.settings.given(), describe, spread);
  const TrainedModel& trained = *restored.trained;
  if (trained.is_regression() && (flags.top > 0 || flags.probabilities))
    throw UsageError("the model predicts numbers and no classes (--top, --probabilities); leave them out");
  const int64_t nodes = restored.all_nodes();
  const bool all = !flags.out.empty();
  Predictions of_all, of_node;
  if (all) {
    restored.on_first(
        [&] { require_space_for_file(flags.out, bytes_of_predictions(restored, flags), "eignn predict"); });
    of_all = restored.predictions(torch::arange(restored.data.nodes()));
    write_predictions(restored, of_all, flags);
  }
  if (flags.has_node) of_node = of_last_node(restored);

  Json json = {{"checkpoint", flags.checkpoint},
               {"dataset", restored.config.dataset},
               {"model", name(restored.config.model)},
               {"graph", restored.which_graph()}};
  if (flags.has_node && restored.is_first())
    json.update(new_node_json(restored, of_node, flags.top > 0 ? flags.top : trained.classes()));
  if (all) {
    json["nodes"] = nodes;
    json["parts"] = {{"train", restored.total(restored.split.train.numel())},
                     {"val", restored.total(restored.split.val.numel())},
                     {"test", restored.total(restored.split.test.numel())}};
    if (!trained.is_regression()) json["predicted_nodes"] = predicted_counts(restored, of_all);
    json["out"] = flags.out;
  }
  if (!restored.is_first()) return;
  if (flags.json) return print_json(json);
  if (flags.has_node) print_node(restored, json);
  if (all) fmt::print("{} written to {} ({})\n", counted(nodes, "node"), flags.out, restored.which_graph());
}

}  // namespace

void run_predict(const PredictFlags& flags) {
  in_processes(flags, [&](const SpreadOptions* spread) { predict_on(flags, spread); });
}

}  // namespace eignn::cli
