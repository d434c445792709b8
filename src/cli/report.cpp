#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "cli/flags.h"
#include "data/atomic_file.h"
#include "data/disk_space.h"
#include "data/text_lines.h"
#include "eignn/error.h"
#include "eignn/execution.h"
#include "explain/explainer.h"
#include "paper/reproduction.h"
#include "report/explanation_files.h"
#include "report/graph_view.h"
#include "report/page.h"
#include "run/restored_run.h"
#include "run/training_record.h"
#include "train/assemble.h"

namespace eignn::cli {

namespace {

// The page draws each data set once, and so many of them: each takes reading, and room in the page.
constexpr size_t most_graphs = 6;

// The words of an experiment that `reproduce` knows.
std::optional<ExperimentWords> experiment_words(const Json& json) {
  const std::string name = json.at("experiment").get<std::string>();
  for (const Reproduction& experiment : reproductions()) {
    if (experiment.name != name) continue;
    ExperimentWords words = {experiment.title, "", ""};
    if (experiment.plots)
      if (const auto plots = experiment.plots(json); !plots.empty()) {
        words.x_label = plots[0].x_label;
        words.y_label = plots[0].y_label;
      }
    return words;
  }
  return {};
}

bool has_file(const CollectedRun& run, const char* name) {
  return !run.folder.empty() && std::filesystem::exists(run.folder + "/" + name);
}

// What decides on the graph of a run.
std::string data_of(const TrainConfig& config) {
  return fmt::format("{} {} {} {} {}", config.dataset, config.chain_length, config.chains_per_class,
                     config.num_classes, name(config.edge_weights));
}

// The run that explains nodes: the first that has a model.
const CollectedRun* explaining_run(const Collected& collected) {
  for (const CollectedRun& run : collected.runs)
    if (has_file(run, "model.safetensors")) return &run;
  return nullptr;
}

// The graphs of the first run on each data set. One whose data are not there any more is left out, with a
// notice.
std::vector<Json> graphs_of(const ReportFlags& flags, Collected& collected) {
  std::vector<Json> out;
  std::vector<std::string> seen;
  const auto settings = flags.settings.given();
  const CollectedRun* explaining = explaining_run(collected);
  for (const CollectedRun& run : collected.runs) {
    if (!has_file(run, "predictions.csv") || out.size() == most_graphs) continue;
    TrainConfig config = run.result.config;
    assign(config, settings);
    config.device = DeviceKind::cpu;  // nothing is trained
    if (std::find(seen.begin(), seen.end(), data_of(config)) != seen.end()) continue;
    seen.push_back(data_of(config));
    say_long_reading(config.dataset);
    try {
      const Execution execution(config);
      GraphViewOptions options;
      if (!flags.nodes.empty() && explaining != nullptr &&
          explaining->result.config.dataset == run.result.config.dataset)
        options.node = flags.nodes[0];
      CollectedRun as_drawn = {run.name, run.folder, true, run.result, {}};
      as_drawn.result.config = config;
      out.push_back(graph_view(as_drawn, load_raw_dataset(config), options));
    } catch (const ArgumentError& error) {
      if (error.field() == "node") throw;
      collected.not_shown.push_back(fmt::format("the graph of {}: {}", run.name, error.what()));
    } catch (const DataError& error) {
      collected.not_shown.push_back(fmt::format("the graph of {}: {}", run.name, error.what()));
    }
  }
  return out;
}

std::vector<Json> explanations_of(const ReportFlags& flags, const Collected& collected) {
  std::vector<Json> out;
  if (flags.nodes.empty()) return out;
  const CollectedRun* with_model = explaining_run(collected);
  if (with_model == nullptr)
    throw UsageError("none of the runs has a model that could be explained (--node); leave --node out");
  constexpr size_t listed = 200, drawn = 60;
  const RestoredRun restored = restore_run(with_model->folder, flags.settings.given());
  Explainer explainer(*restored.model, restored.dataset, restored.config, units_of(*restored.trained));
  for (const std::string& text : flags.nodes) {
    const int64_t node = find_node(restored.dataset, text);
    const Explanation why = explainer.explain(node, {}, {});
    Json json = {{"checkpoint", with_model->name},
                 {"dataset", restored.config.dataset},
                 {"model", name(restored.config.model)}};
    json.update(explanation_json(why, restored.dataset, listed));
    std::vector<int64_t> largest;
    for (size_t t = 0; t < std::min(drawn, why.nodes.size()); ++t) largest.push_back(why.nodes[t].node);
    ExplanationPicture picture{
        why, restored.dataset, explainer.on_paths(largest, node), {}, explainer.directed()};
    picture.arcs = explainer.arcs_among(picture.nodes);
    json["picture"] = picture_json(picture);
    out.push_back(std::move(json));
  }
  return out;
}

std::string report_command(const ReportFlags& flags) {
  std::string words = "eignn report";
  for (const std::string& path : flags.paths) words += " " + shell_quoted(path);
  for (const std::string& node : flags.nodes) words += " --node " + shell_quoted(node);
  for (const auto& [name, text] : flags.settings.given())
    words += fmt::format(" --{} {}", name, shell_quoted(text));
  if (flags.no_graphs) words += " --no-graphs";
  return words + " --out " + shell_quoted(flags.out);
}

}  // namespace

void run_report(const ReportFlags& flags) {
  Collected collected = collect(flags.paths);
  PageOptions options;
  options.words = experiment_words;
  options.command = report_command(flags);
  if (!flags.no_graphs) {
    options.explanations = explanations_of(flags, collected);
    options.graphs = graphs_of(flags, collected);
  }
  const Json data = page_data(collected, options);
  const std::string page = page_html(data);
  require_space_for_file(flags.out, static_cast<double>(page.size()), "eignn report");
  write_file_atomically(flags.out, page);
  if (flags.json)
    return print_json({{"out", flags.out},
                       {"bytes", page.size()},
                       {"runs", data["runs"].size()},
                       {"results", collected.results.size()},
                       {"graphs", data["graphs"].size()},
                       {"explanations", data["explanations"].size()},
                       {"not_shown", collected.not_shown}});
  for (const std::string& why : collected.not_shown) note("not shown: " + why);
  fmt::print("{}, {}: {}\n", counted(static_cast<int64_t>(data["runs"].size()), "run"),
             counted(static_cast<int64_t>(collected.results.size()), "file") + " of results", flags.out);
}

}  // namespace eignn::cli
