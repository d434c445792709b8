#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <map>

#include "cli/flags.h"
#include "data/disk_space.h"
#include "data/tensor_bytes.h"
#include "data/text_lines.h"
#include "eignn/error.h"
#include "report/table.h"
#include "run/disk_estimate.h"
#include "run/predictions_csv.h"
#include "run/restored_run.h"

namespace eignn::cli {

namespace {

// The new node is the last one.
Json new_node_json(const RestoredRun& restored, const Predictions& predictions, int64_t top) {
  const TrainedModel& trained = *restored.trained;
  Json json = {{"node", restored.data.node_name(restored.data.nodes() - 1)}};
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
Json predicted_counts(const TrainedModel& trained, const Predictions& predictions) {
  Json counts;
  for (int64_t k = 0; k < trained.classes(); ++k)
    counts[trained.class_name(k)] =
        (trained.multi_label() ? predictions.classes.select(1, k) : predictions.classes == k)
            .sum()
            .item<int64_t>();
  return counts;
}

void write_predictions(const RestoredRun& restored, const Predictions& predictions,
                       const PredictFlags& flags) {
  if (flags.out.back() != 'v')  // .npy, as the check of the flags has seen
    return write_npy(flags.out,
                     predictions.values.defined() ? predictions.values : predictions.probabilities);
  PredictionColumns columns;
  columns.top = flags.top;
  columns.probabilities = flags.probabilities || flags.top == 0;
  write_predictions_csv(flags.out, restored.data, restored.split, predictions,
                        restored.trained->class_names(), columns);
}

// About how many bytes write_predictions() will take.
double bytes_of_predictions(const RestoredRun& restored, const PredictFlags& flags) {
  const auto classes = static_cast<double>(restored.trained->classes());
  if (flags.out.back() != 'v') return static_cast<double>(restored.data.nodes()) * classes * sizeof(double);
  const bool all = flags.probabilities || flags.top == 0;
  return bytes_of_node_rows(restored.data,
                            std::min(2 * static_cast<double>(flags.top), 2 * classes) + (all ? classes : 0));
}

}  // namespace

void run_predict(const PredictFlags& flags) {
  DescribeNode describe;
  if (flags.has_node)
    describe = [&](const Dataset& data) { return parse_node(data, flags.node, flags.neighbours); };
  const RestoredRun restored = restore_run(flags.checkpoint, flags.settings.given(), describe);
  const TrainedModel& trained = *restored.trained;
  if (trained.is_regression() && (flags.top > 0 || flags.probabilities))
    throw UsageError("the model predicts numbers and no classes (--top, --probabilities); leave them out");
  const int64_t nodes = restored.data.nodes();
  const bool all = !flags.out.empty();
  if (all) require_space_for_file(flags.out, bytes_of_predictions(restored, flags), "eignn predict");
  const auto predictions = restored.predictions(all ? torch::arange(nodes) : torch::tensor({nodes - 1}));
  if (all) write_predictions(restored, predictions, flags);

  Json json = {{"checkpoint", flags.checkpoint},
               {"dataset", restored.config.dataset},
               {"model", name(restored.config.model)},
               {"graph", restored.which_graph()}};
  if (flags.has_node)
    json.update(new_node_json(restored, predictions, flags.top > 0 ? flags.top : trained.classes()));
  if (all) {
    json["nodes"] = nodes;
    json["parts"] = {{"train", restored.split.train.numel()},
                     {"val", restored.split.val.numel()},
                     {"test", restored.split.test.numel()}};
    if (!trained.is_regression()) json["predicted_nodes"] = predicted_counts(trained, predictions);
    json["out"] = flags.out;
  }
  if (flags.json) return print_json(json);
  if (flags.has_node) print_node(restored, json);
  if (all) fmt::print("{} written to {} ({})\n", counted(nodes, "node"), flags.out, restored.which_graph());
}

}  // namespace eignn::cli
