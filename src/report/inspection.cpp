#include "report/inspection.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <map>

#include "data/graph_file.h"
#include "equilibrium/contraction.h"
#include "equilibrium/extremes.h"
#include "graph/content_hash.h"
#include "graph/statistics.h"
#include "train/checkpoint.h"
#include "train/config.h"

namespace eignn {

namespace {

using Json = InspectionJson;

// Nodes that repeat an earlier one: the same features, label and neighbours.
int64_t duplicate_nodes(const Dataset& dataset) {
  const Graph both_ways = dataset.graph.symmetrised();
  const auto X = dataset.features.contiguous();
  const auto labels = dataset.labels.contiguous();
  std::map<std::string, int64_t> seen;
  int64_t duplicates = 0;
  for (int64_t v = 0; v < dataset.nodes(); ++v) {
    ContentHash hash;
    hash.add(X.data_ptr<double>() + v * X.size(1), static_cast<size_t>(X.size(1)) * sizeof(double));
    hash.add(labels.data_ptr<int64_t>() + v, sizeof(int64_t));
    hash.add(both_ways.target.data() + both_ways.row_begin[v],
             static_cast<size_t>(both_ways.row_begin[v + 1] - both_ways.row_begin[v]) * sizeof(int64_t));
    duplicates += seen[hash.hex()]++ > 0;
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
  const std::vector<int64_t> y(labels.data_ptr<int64_t>(), labels.data_ptr<int64_t>() + labels.numel());
  std::vector<int64_t> counts(dataset.classes, 0);
  for (int64_t label : y) ++counts[label];
  json["features"] = dataset.feature_count();
  json["classes"] = dataset.classes;
  json["class_counts"] = counts;
  json["edge_homophily"] = edge_homophily(dataset.graph, y);
  json["node_homophily"] = node_homophily(dataset.graph, y);
  json["duplicate_nodes"] = duplicate_nodes(dataset);
  json["splits"] = Json::array();
  for (const Split& split : dataset.splits)
    json["splits"].push_back(
        {{"train", split.train.size(0)}, {"val", split.val.size(0)}, {"test", split.test.size(0)}});
}

void add_spectrum_and_plan(const Propagation& S, const TrainConfig& config, int64_t features, Json& json) {
  if (S.symmetric) {
    const SpectrumRange range = spectrum_range(S);
    json["spectrum"] = {{"min", range.min}, {"max", range.max}};
  } else {
    json["spectrum"] = nullptr;
  }
  if (config.solver != "auto") {
    json["planner"] = {{"solver", config.solver}, {"reason", "asked for"}};
    return;
  }
  const Plan plan = plan_solver(S, features, solver_options(config), config.head == "batch-norm");
  json["planner"] = {{"solver", plan.solver}, {"reason", plan.reason}};
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
  if (!S.symmetric) warnings.push_back("S is not symmetric: only direct and picard take it");
  json["warnings"] = warnings;
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
  const Propagation S = make_propagation(
      graph, {parse_direction(c.direction), parse_normalisation(c.normalise), c.self_loops == "on"});
  add_spectrum_and_plan(S, c, c.feature_dim, json);
  add_warnings(S, json);
  return json;
}

Json inspect_dataset(const TrainConfig& config) {
  const Dataset dataset = load_dataset(config);
  Json json = {{"dataset", dataset.name}};
  add_graph(dataset.graph, dataset.graph.arcs(), json);
  add_labels(dataset, json);
  const Propagation S = make_propagation(dataset, config);
  add_spectrum_and_plan(S, config, dataset.feature_count(), json);
  add_warnings(S, json);
  return json;
}

Json inspect_checkpoint(const std::string& path) {
  const Checkpoint checkpoint = read_checkpoint(path);
  Json json = {{"checkpoint", path}, {"features", checkpoint.features}, {"classes", checkpoint.classes}};
  Json weights;
  for (const auto& [name, tensor] : checkpoint.state) weights[name] = tensor.sizes().vec();
  json["weights"] = weights;
  if (checkpoint.state.count("F"))
    json["mu"] = leading_mu(checkpoint.state.at("F"), checkpoint.config.epsilon);
  Json config;
  visit(checkpoint.config, [&](const char* name, const auto& field, const char*) { config[name] = field; });
  json["config"] = config;
  return json;
}

}  // namespace eignn
