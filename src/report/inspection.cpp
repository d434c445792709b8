#include "report/inspection.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "data/catalogue.h"
#include "data/edge_weights.h"
#include "data/graph_file.h"
#include "data/sparse_tensor.h"
#include "equilibrium/contraction.h"
#include "equilibrium/extremes.h"
#include "equilibrium/spectral/truncated.h"
#include "equilibrium/torch_errors.h"
#include "graph/content_hash.h"
#include "graph/statistics.h"
#include "report/look_up.h"
#include "run/checkpoint.h"
#include "run/result_json.h"
#include "run/training_record.h"
#include "train/assemble.h"
#include "train/graph_reduction.h"
#include "train/plan_request.h"

namespace eignn {

namespace {

using Json = InspectionJson;

void add_row(ContentHash& hash, const torch::Tensor& table, int64_t v) {
  const size_t bytes = table.nbytes() / static_cast<size_t>(table.size(0));
  hash.add(static_cast<const char*>(table.data_ptr()) + static_cast<size_t>(v) * bytes, bytes);
}

// The number of nodes that repeat an earlier one, with the same features, label, neighbours and weights.
int64_t duplicate_nodes(const Dataset& dataset) {
  const Graph both_ways = dataset.graph.symmetrised();
  const MatrixRows X(dataset.features);
  const auto labels = dataset.labels.contiguous();
  std::unordered_set<std::string> seen;
  int64_t duplicates = 0;
  for (int64_t v = 0; v < dataset.nodes(); ++v) {
    const int64_t begin = both_ways.row_begin[v], end = both_ways.row_begin[v + 1];
    ContentHash hash;
    const std::string features = X.bytes(v);
    hash.add(features.data(), features.size());
    add_row(hash, labels, v);
    hash.add(both_ways.target.data() + begin, static_cast<size_t>(end - begin) * sizeof(int32_t));
    if (!both_ways.weight.empty())
      hash.add(both_ways.weight.data() + begin, static_cast<size_t>(end - begin) * sizeof(double));
    duplicates += !seen.insert(hash.hex()).second;
  }
  return duplicates;
}

GraphFacts facts_of(const Graph& graph, int64_t arcs_in_file, const PropagationOptions& options) {
  GraphFacts facts = {graph.nodes,
                      arcs_in_file < 0 ? graph.arcs() : arcs_in_file,
                      graph.arcs(),
                      graph.loops(),
                      graph.undirected_edges(),
                      weak_components(graph).count,
                      graph.isolated(),
                      {}};
  if (!graph.weight.empty()) {
    const auto [least, most] = std::minmax_element(graph.weight.begin(), graph.weight.end());
    facts.weights = WeightFacts{*least, *most, scale_of_weights(graph, options)};
  }
  return facts;
}

LabelFacts labels_of(const Dataset& dataset) {
  LabelFacts facts;
  const auto labels = dataset.labels.contiguous();
  facts.features = dataset.feature_count();
  facts.classes = dataset.classes;
  facts.multi_label = dataset.multi_label();
  facts.regression = dataset.is_regression();
  facts.unknown_labels = dataset.nodes() - dataset.known.sum().item<int64_t>();
  if (facts.regression) {
    facts.classes = 0;
  } else if (facts.multi_label) {
    const auto counts = labels.sum(0, /*keepdim=*/false, torch::kInt64);
    facts.class_counts = {counts.data_ptr<int64_t>(), counts.data_ptr<int64_t>() + counts.numel()};
  } else {
    const std::vector<int64_t> y(labels.data_ptr<int64_t>(), labels.data_ptr<int64_t>() + labels.numel());
    facts.class_counts.assign(static_cast<size_t>(dataset.classes), 0);
    for (const int64_t label : y)
      if (label >= 0) ++facts.class_counts[static_cast<size_t>(label)];
    facts.edge_homophily = edge_homophily(dataset.graph, y);
    facts.node_homophily = node_homophily(dataset.graph, y);
  }
  facts.duplicate_nodes = duplicate_nodes(dataset);
  for (const Split& split : dataset.splits)
    facts.splits.push_back({split.train.size(0), split.val.size(0), split.test.size(0)});
  if (!dataset.splits.empty() && !facts.regression) {
    const LookUp look_up = look_up_score_of(dataset, dataset.splits[0]);
    facts.look_up_score = look_up.score;
    facts.most_frequent_class = look_up.constant;
  }
  return facts;
}

void add_matrix(const Propagation& S, Inspection& out) {
  if (S.symmetric) {
    const SpectrumRange range = spectrum_range(S);
    out.spectrum = Inspection::Range{range.min, range.max};
  } else {
    out.warnings.emplace_back("S is not symmetric: only direct, sparse, deflated and picard take it");
  }
}

Plan plan_of(const PlanRequest& request, const TrainConfig& config) {
  Plan plan = plan_solver(request);
  if (config.eignn().solver == "auto") return plan;
  plan.solver = config.eignn().solver;
  plan.reason = "asked for by the caller or the recipe";
  return plan;
}

void add_graph_warnings(const GraphFacts& graph, Inspection& out) {
  if (graph.isolated > 0)
    out.warnings.push_back(
        graph.isolated == 1
            ? "1 node has no neighbour and keeps its own features"
            : fmt::format("{} nodes have no neighbour and keep their own features", graph.isolated));
}

void add_label_warnings(const Dataset& dataset, const LabelFacts& facts, Inspection& out) {
  if (facts.duplicate_nodes > 0)
    out.warnings.push_back(
        fmt::format("{} nodes repeat another node's features, label and neighbours: they may leak from train "
                    "to test",
                    facts.duplicate_nodes));
  if (facts.look_up_score > facts.most_frequent_class + 0.05)
    out.warnings.push_back(
        fmt::format("without a model, the labels of training nodes with the same features score {:.1f} % on "
                    "the test nodes of the first split ({}; the most frequent class alone: {:.1f} %)",
                    100 * facts.look_up_score, facts.multi_label ? "micro_f1" : "accuracy",
                    100 * facts.most_frequent_class));
  if (facts.unknown_labels > 0)
    out.warnings.push_back(
        facts.unknown_labels == 1
            ? "1 node has no known label and is left out of loss and metric"
            : fmt::format("{} nodes have no known label and are left out of loss and metric",
                          facts.unknown_labels));
  if (dataset.drawn_split)
    out.warnings.push_back(
        fmt::format("the files have no split: one is drawn by the seed (60 / 20 / 20 % of {})",
                    dataset.graphs() > 1                               ? "the graphs"
                    : dataset.multi_label() || dataset.is_regression() ? "the labelled nodes"
                                                                       : "each class"));
}

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

void add_labels(const LabelFacts& facts, Json& json) {
  json["features"] = facts.features;
  json["classes"] = facts.classes;
  json["multi_label"] = facts.multi_label;
  json["unknown_labels"] = facts.unknown_labels;
  json["class_counts"] = facts.class_counts;
  json["edge_homophily"] = or_null(facts.edge_homophily);
  json["node_homophily"] = or_null(facts.node_homophily);
  json["duplicate_nodes"] = facts.duplicate_nodes;
  json["splits"] = Json::array();
  for (const auto& split : facts.splits)
    json["splits"].push_back({{"train", split.train}, {"val", split.val}, {"test", split.test}});
  if (facts.regression) {
    json["regression"] = true;
    json["look_up"] = nullptr;
    return;
  }
  json["look_up"] = {{"metric", facts.multi_label ? "micro_f1" : "accuracy"},
                     {"test", facts.look_up_score},
                     {"most_frequent_class", facts.most_frequent_class}};
}

// Of the first direction.
TruncationFacts truncation_of(const std::vector<GraphMatrix>& graphs, const torch::Tensor& X,
                              const TrainConfig& config) {
  const EignnOptions& model = config.eignn();
  const SolverOptions options = solver_options(config);
  const bool of_features =
      X.defined() && model.encoder == 0 && !is_stack(model) && model.source == Source::own;
  TruncationFacts out;
  double left_out = 0;
  for (const GraphMatrix& graph : graphs) {
    const LeadingSpectrum spectrum(*graph.S, options);
    out.eigenpairs = std::max(out.eigenpairs, spectrum.range.lambda.size(0));
    out.next_eigenvalue = std::max(out.next_eigenvalue, spectrum.next);
    out.gain = std::max(out.gain, worst_gain_of_rest(spectrum, options.gamma));
    if (!of_features) continue;
    const auto rows = graph.nodes.empty() ? X : X.index_select(0, torch::tensor(graph.nodes, torch::kInt64));
    const FeaturesInRange features(spectrum.range, rows.to(options.device, options.dtype));
    left_out += features.rest_squares.sum().item<double>();
  }
  if (of_features) {
    const double size = X.norm().item<double>();
    out.left_out = size > 0 ? std::sqrt(left_out) / size : 0;
  }
  return out;
}

Json plan_json(const Plan& plan) {
  Json prices = Json::array();
  for (const Price& price : plan.prices)
    prices.push_back({{"solver", price.solver},
                      {"path", price.path},
                      {"preparation_s", price.preparation_s},
                      {"epoch_ms", price.epoch_ms},
                      {"refused", price.refused.empty() ? Json() : Json(price.refused)}});
  return {{"solver", plan.solver}, {"reason", plan.reason}, {"prices", prices}};
}

Inspection inspected(const Dataset& dataset, const TrainConfig& config) {
  validate(dataset);
  Inspection out;
  out.dataset = dataset.name;
  out.format = dataset.format.empty() ? "built in" : dataset.format;
  out.graphs = dataset.graphs();
  out.graph = facts_of(dataset.graph, dataset.arcs_in_file, config.propagation);
  add_graph_warnings(out.graph, out);
  add_matrix(make_propagation(dataset, config), out);
  out.columns = dataset.report;
  if (!dataset.labels.defined() && !dataset.why_unlabelled.empty())
    out.warnings.push_back(dataset.why_unlabelled + ": the data can be predicted, not trained on");
  if (dataset.labels.defined() && dataset.splits.empty())
    out.warnings.emplace_back("too few labels for a split: the data can be predicted, not trained on");
  if (dataset.labels.defined()) {
    out.labels = labels_of(dataset);
    add_label_warnings(dataset, *out.labels, out);
  }
  out.reduction = reduction_facts(dataset);
  if (config.is_eignn()) {
    const auto graphs = graph_matrices(dataset, config);
    out.plan = plan_of(plan_request(graphs, dataset, config), config);
    if (config.eignn().solver == "truncated")
      out.truncation = truncation_of(graphs, model_features(dataset), config);
  }
  return out;
}

}  // namespace

Inspection inspect(const Dataset& dataset, const TrainConfig& config) {
  return with_our_errors("inspect", [&] { return inspected(dataset, config); });
}

namespace {

Inspection inspected(const Graph& graph, const TrainConfig& config, int64_t arcs_in_file) {
  Inspection out;
  out.graph = facts_of(graph, arcs_in_file, config.propagation);
  add_graph_warnings(out.graph, out);
  const auto S = std::make_shared<const Propagation>(make_propagation(graph, config.propagation));
  add_matrix(*S, out);
  if (config.is_eignn()) {
    out.plan = plan_of(plan_request(*S, config), config);
    if (config.eignn().solver == "truncated")
      out.truncation = truncation_of(std::vector<GraphMatrix>{GraphMatrix{{}, S}}, {}, config);
  }
  return out;
}

}  // namespace

Inspection inspect(const Graph& graph, const TrainConfig& config, int64_t arcs_in_file) {
  return with_our_errors("inspect", [&] { return inspected(graph, config, arcs_in_file); });
}

Inspection inspect_graph_file(const std::string& path, const std::string& format, const TrainConfig& config) {
  ArcList arcs = read_graph(path, format);
  take_weights(arcs, config.edge_weights, path);
  int64_t nodes = arcs.nodes;
  if (nodes < 0)
    for (const auto* ends : {&arcs.source, &arcs.target})
      for (const int64_t id : *ends) nodes = std::max(nodes, id + 1);
  nodes = std::max<int64_t>(nodes, 0);
  check_node_range(arcs, nodes, path);
  return inspect(Graph::from_arcs(nodes, arcs.source, arcs.target, arcs.weight), config,
                 static_cast<int64_t>(arcs.source.size()));
}

Inspection inspect_dataset(const TrainConfig& config) {
  Inspection out = inspect(load_dataset(config), config);
  if (const NamedSet* set = named_set(config.dataset); set != nullptr && !set->caveat.empty())
    out.warnings.push_back(set->caveat);
  return out;
}

InspectionJson inspect_checkpoint(const std::string& path) {
  const TrainedModel trained = load_model(path);
  Json json = {{"checkpoint", path},
               {"task", name(trained.task())},
               {"features", trained.features()},
               {"feature_names", trained.feature_names()},
               {"classes", trained.classes()},
               {"class_names", trained.class_names()}};
  if (const auto& nodes = trained.record()->nodes) {
    const auto [train, val, test] = nodes->counts();
    json["training_graph"] = {{"dataset", trained.config().dataset},
                              {"nodes", nodes->nodes()},
                              {"arcs", nodes->arcs()},
                              {"train", train},
                              {"val", val},
                              {"test", test},
                              {"digest", nodes->digest()}};
  }
  Json weights;
  for (const auto& [name, tensor] : trained.weights()) weights[name] = tensor.sizes().vec();
  json["weights"] = weights;
  if (trained.weights().count("F"))
    json["mu"] = leading_mu(trained.weights().at("F"), trained.config().eignn().epsilon);
  json["config"] = config_json(trained.config());
  return json;
}

InspectionJson inspection_json(const Inspection& inspection) {
  Json json;
  if (!inspection.dataset.empty()) json = {{"dataset", inspection.dataset}, {"format", inspection.format}};
  const GraphFacts& graph = inspection.graph;
  json["nodes"] = graph.nodes;
  json["arcs_in_file"] = graph.arcs_in_file;
  json["arcs"] = graph.arcs;
  json["loops"] = graph.loops;
  json["undirected_edges"] = graph.undirected_edges;
  json["components"] = graph.components;
  json["isolated"] = graph.isolated;
  json["weights"] = nullptr;
  if (const auto& weights = graph.weights)
    json["weights"] = {{"min", weights->min}, {"max", weights->max}, {"scale", weights->scale}};
  if (inspection.labels) {
    json["graphs"] = inspection.graphs;
    add_labels(*inspection.labels, json);
  } else {  // the keys are there all the same
    for (const char* key :
         {"features", "classes", "class_counts", "edge_homophily", "node_homophily", "duplicate_nodes"})
      json[key] = nullptr;
    json["splits"] = Json::array();
  }
  json["spectrum"] = nullptr;
  if (const auto& range = inspection.spectrum) json["spectrum"] = {{"min", range->min}, {"max", range->max}};
  if (inspection.reduction) json["reduction"] = reduction_json(*inspection.reduction);
  if (const auto& t = inspection.truncation)
    json["truncation"] = {{"eigenpairs", t->eigenpairs},
                          {"next_eigenvalue", t->next_eigenvalue},
                          {"gain", std::isfinite(t->gain) ? Json(t->gain) : Json()},
                          {"left_out", or_null(t->left_out)}};
  if (!inspection.columns.empty()) json["columns"] = columns_json(inspection.columns);
  if (inspection.plan) json["planner"] = plan_json(*inspection.plan);
  json["warnings"] = inspection.warnings;
  return json;
}

std::string to_json(const Inspection& inspection) {
  return inspection_json(inspection).dump(2);
}

}  // namespace eignn
