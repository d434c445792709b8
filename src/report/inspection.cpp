#include "report/inspection.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <unordered_set>

#include "data/graph_file.h"
#include "equilibrium/contraction.h"
#include "equilibrium/extremes.h"
#include "graph/content_hash.h"
#include "graph/statistics.h"
#include "report/look_up.h"
#include "run/checkpoint.h"
#include "run/result_json.h"
#include "run/run_folder.h"
#include "train/assemble.h"
#include "train/config.h"
#include "train/plan_request.h"

namespace eignn {

namespace {

using Json = InspectionJson;

void add_row(ContentHash& hash, const torch::Tensor& table, int64_t v) {
  const size_t bytes = table.nbytes() / static_cast<size_t>(table.size(0));
  hash.add(static_cast<const char*>(table.data_ptr()) + static_cast<size_t>(v) * bytes, bytes);
}

// Nodes that repeat an earlier one: the same features, label and neighbours.
int64_t duplicate_nodes(const Dataset& dataset) {
  const Graph both_ways = dataset.graph.symmetrised();
  const auto X = dataset.features.contiguous(), labels = dataset.labels.contiguous();
  std::unordered_set<std::string> seen;
  int64_t duplicates = 0;
  for (int64_t v = 0; v < dataset.nodes(); ++v) {
    const int64_t begin = both_ways.row_begin[v], end = both_ways.row_begin[v + 1];
    ContentHash hash;
    add_row(hash, X, v);
    add_row(hash, labels, v);
    hash.add(both_ways.target.data() + begin, static_cast<size_t>(end - begin) * sizeof(int64_t));
    duplicates += !seen.insert(hash.hex()).second;
  }
  return duplicates;
}

void add_graph(const Graph& graph, int64_t arcs_in_file, Json& json) {
  json["nodes"] = graph.nodes;
  json["arcs_in_file"] = arcs_in_file;
  json["arcs"] = graph.arcs();
  json["loops"] = graph.loops();
  json["undirected_edges"] = graph.undirected_edges();
  json["components"] = weak_components(graph).count;
  json["isolated"] = graph.isolated();
}

void add_labels(const Dataset& dataset, Json& json) {
  const auto labels = dataset.labels.contiguous();
  json["features"] = dataset.feature_count();
  json["classes"] = dataset.classes;
  json["multi_label"] = dataset.multi_label();
  json["unknown_labels"] = dataset.nodes() - dataset.known.sum().item<int64_t>();
  if (dataset.multi_label()) {
    const auto counts = labels.sum(0, /*keepdim=*/false, torch::kInt64);
    json["class_counts"] =
        std::vector<int64_t>(counts.data_ptr<int64_t>(), counts.data_ptr<int64_t>() + counts.numel());
    json["edge_homophily"] = json["node_homophily"] = nullptr;  // defined for one label a node
  } else {
    const std::vector<int64_t> y(labels.data_ptr<int64_t>(), labels.data_ptr<int64_t>() + labels.numel());
    std::vector<int64_t> counts(dataset.classes, 0);
    for (int64_t label : y)
      if (label >= 0) ++counts[label];
    json["class_counts"] = counts;
    json["edge_homophily"] = edge_homophily(dataset.graph, y);
    json["node_homophily"] = node_homophily(dataset.graph, y);
  }
  json["duplicate_nodes"] = duplicate_nodes(dataset);
  json["splits"] = Json::array();
  for (const Split& split : dataset.splits)
    json["splits"].push_back(
        {{"train", split.train.size(0)}, {"val", split.val.size(0)}, {"test", split.test.size(0)}});
  const LookUp look_up = best_look_up(dataset, dataset.splits[0]);
  json["look_up"] = {{"metric", dataset.multi_label() ? "micro_f1" : "accuracy"},
                     {"test", look_up.score},
                     {"most_frequent_class", look_up.constant}};
}

void add_spectrum(const Propagation& S, Json& json) {
  if (S.symmetric) {
    const SpectrumRange range = spectrum_range(S);
    json["spectrum"] = {{"min", range.min}, {"max", range.max}};
  } else {
    json["spectrum"] = nullptr;
  }
}

void add_plan(const PlanRequest& request, const TrainConfig& config, Json& json) {
  const Plan plan = plan_solver(request);
  Json prices = Json::array();
  for (const Price& price : plan.prices)
    prices.push_back({{"solver", price.solver},
                      {"path", price.path},
                      {"preparation_s", price.preparation_s},
                      {"epoch_ms", price.epoch_ms},
                      {"refused", price.refused.empty() ? Json() : Json(price.refused)}});
  const std::string& wanted = config.eignn().solver;
  const bool asked = wanted != "auto";
  json["planner"] = {{"solver", asked ? wanted : plan.solver},
                     {"reason", asked ? "asked for by the caller or the recipe" : plan.reason},
                     {"prices", prices}};
}

void add_warnings(const Propagation& S, Json& json) {
  Json warnings = Json::array();
  const int64_t isolated = json["isolated"].get<int64_t>();
  if (isolated > 0)
    warnings.push_back(fmt::format("{} nodes have no neighbour and keep their own features", isolated));
  if (!json["duplicate_nodes"].is_null() && json["duplicate_nodes"].get<int64_t>() > 0)
    warnings.push_back(
        fmt::format("{} nodes repeat another node's features, label and neighbours: they may leak from train "
                    "to test",
                    json["duplicate_nodes"].get<int64_t>()));
  if (!S.symmetric)
    warnings.push_back("S is not symmetric: only direct, sparse, deflated and picard take it");
  json["warnings"] = warnings;
}

// What to know before figures on this data set are believed; docs/data.md has the evidence.
void add_known_traps(const Dataset& dataset, Json& json) {
  Json& warnings = json["warnings"];
  const Json& look_up = json["look_up"];
  const double score = look_up["test"].get<double>(), constant = look_up["most_frequent_class"].get<double>();
  if (score > constant + 0.05)
    warnings.push_back(
        fmt::format("without a model, the labels of training nodes with the same features score {:.1f} % on "
                    "the test nodes of the first split ({}; the most frequent class alone: {:.1f} %)",
                    100 * score, look_up["metric"].get<std::string>(), 100 * constant));
  if (dataset.name == "cornell" && dataset.format == "Geom-GCN text")
    warnings.push_back(
        "these are Texas's features and labels on Cornell's graph: the two published files are identical; "
        "cornell-true is the corrected set");
  if (dataset.name == "chameleon" || dataset.name == "squirrel")
    warnings.push_back(
        fmt::format("published EIGNN figures on this set come from a directed graph treated as if it were "
                    "symmetric; {}-filtered is the set without duplicate nodes",
                    dataset.name));
  const int64_t unknown = json["unknown_labels"].get<int64_t>();
  if (unknown > 0)
    warnings.push_back(
        fmt::format("{} nodes have no known label and are left out of loss and metric", unknown));
  if (dataset.drawn_split)
    warnings.push_back(fmt::format("the files have no split: one is drawn by the seed (60 / 20 / 20 % of {})",
                                   dataset.graphs() > 1    ? "the graphs"
                                   : dataset.multi_label() ? "the labelled nodes"
                                                           : "each class"));
}

}  // namespace

Json inspect_graph(const std::string& path, const std::string& format, const TrainConfig& c) {
  const ArcList arcs = read_graph(path, format);
  int64_t nodes = arcs.nodes;
  if (nodes < 0)
    for (const auto* ends : {&arcs.source, &arcs.target})
      for (int64_t id : *ends) nodes = std::max(nodes, id + 1);
  nodes = std::max<int64_t>(nodes, 0);
  check_node_range(arcs, nodes, path);
  const Graph graph = Graph::from_arcs(nodes, arcs.source, arcs.target);
  Json json;
  add_graph(graph, static_cast<int64_t>(arcs.source.size()), json);
  // A bare graph has none of these; the keys are there all the same.
  for (const char* key :
       {"features", "classes", "class_counts", "edge_homophily", "node_homophily", "duplicate_nodes"})
    json[key] = nullptr;
  json["splits"] = Json::array();
  const Propagation S = make_propagation(graph, c.propagation);
  add_spectrum(S, json);
  if (c.is_eignn()) add_plan(plan_request(S, c), c, json);
  add_warnings(S, json);
  return json;
}

Json inspect_dataset(const TrainConfig& config) {
  const Dataset dataset = load_dataset(config);
  Json json = {{"dataset", dataset.name}, {"format", dataset.format.empty() ? "built in" : dataset.format}};
  add_graph(dataset.graph, dataset.arcs_in_file, json);
  json["graphs"] = dataset.graphs();
  add_labels(dataset, json);
  const Propagation S = make_propagation(dataset, config);
  add_spectrum(S, json);
  const auto graphs = graph_matrices(dataset, config);
  if (config.is_eignn()) add_plan(plan_request(graphs, dataset, config), config, json);
  add_warnings(S, json);
  add_known_traps(dataset, json);
  return json;
}

Json inspect_checkpoint(const std::string& path) {
  const TrainedModel trained = load_model(path);
  Json json = {{"checkpoint", path}, {"features", trained.features()}, {"classes", trained.classes()}};
  Json weights;
  for (const auto& [name, tensor] : trained.weights()) weights[name] = tensor.sizes().vec();
  json["weights"] = weights;
  if (trained.weights().count("F"))
    json["mu"] = leading_mu(trained.weights().at("F"), trained.config().eignn().epsilon);
  json["config"] = config_json(trained.config());
  return json;
}

}  // namespace eignn
