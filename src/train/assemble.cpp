#include "train/assemble.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <charconv>

#include "data/memory_limit.h"
#include "data/random_split.h"
#include "data/sparse_tensor.h"
#include "eignn/error.h"
#include "eignn/warning.h"
#include "equilibrium/solvers.h"
#include "graph/random_stream.h"
#include "models/long_preparation.h"
#include "train/graph_reduction.h"
#include "train/plan_request.h"
#include "train/spread.h"
#include "train/torch_settings.h"

namespace eignn {

namespace {

// The solver that is asked for, or the planner's choice. Warns of a long preparation.
std::string chosen_solver(const std::vector<GraphMatrix>& graphs, const Dataset& dataset,
                          const TrainConfig& c) {
  const std::string& asked = c.eignn().solver;
  if (!c.memory.empty()) return "sparse";  // no other keeps within a limit
  // Others have nothing long to prepare, and need no planning, which itself takes a while on a large graph.
  if (asked != "auto" && asked != "spectral" && asked != "krylov" && asked != "direct") return asked;
  const Plan plan = plan_solver(plan_request(graphs, dataset, c));
  const std::string chosen = asked == "auto" ? plan.solver : asked;
  for (const Price& price : plan.prices)
    if (price.solver == chosen) warn_of_preparation(chosen, price.preparation_s);
  return chosen;
}

// Weights that are all equal say nothing that a model could miss.
void warn_of_unread_weights(const Dataset& dataset, const TrainConfig& c) {
  const std::vector<double>& weight = dataset.graph.weight;
  const bool equal = std::all_of(weight.begin(), weight.end(), [&](double w) { return w == weight[0]; });
  if (equal || reads_edge_weights(c.model)) return;
  warn(fmt::format("the arcs of {} have weights, and {} does not read them: to it all arcs are alike",
                   dataset.name, name(c.model)));
}

// Trains on the first `count` of the graphs that the split trains on.
void keep_train_graphs(Dataset& set, int64_t count) {
  const std::vector<int64_t>& given = set.reduction ? set.reduction->graphs_before : set.graph_of;
  if (given.empty() || *std::max_element(given.begin(), given.end()) == 0)
    throw ArgumentError("train-graphs",
                        fmt::format("{} has one graph, and no choice of graphs to train on", set.name),
                        "leave it out");
  const auto graph_of = torch::tensor(given, torch::kInt64);
  for (Split& split : set.splits) {
    const auto graph = graph_of.index_select(0, split.train);
    const auto trained = std::get<0>(at::_unique(graph));  // ascending
    if (count < trained.numel()) split.train = split.train.masked_select(graph < trained[count]);
  }
}

// Of the configured split; undefined where the data have none.
torch::Tensor training_nodes(const Dataset& data, const TrainConfig& c) {
  if (data.splits.empty()) return {};
  size_t split = 0;  // also for "all"
  std::from_chars(c.split.data(), c.split.data() + c.split.size(), split);
  return data.splits[std::min(split, data.splits.size() - 1)].train;  // split_number() refuses larger ones
}

}  // namespace

Dataset load_raw_dataset(const TrainConfig& c, std::vector<TrainedColumn> columns) {
  TableOptions tables = TableOptions::from(c);
  tables.trained_columns = std::move(columns);
  Dataset data =
      load_dataset(c.dataset, {c.chain_length, c.chains_per_class, c.num_classes, c.feature_dim, c.noise},
                   c.seed, DataFolders::from_environment(), tables);
  draw_splits(data, c.drawn, c.seed);
  return data;
}

Dataset load_dataset(const TrainConfig& c) {
  return prepared(load_raw_dataset(c), c);
}

bool features_depend_on_split(const Dataset& raw, const TrainConfig& c) {
  return c.structure || FeatureTransform::depends_on_training(raw, c.feature_norm);
}

Dataset prepared(Dataset data, const TrainConfig& c, const FeatureTransform* transform,
                 const std::shared_ptr<const GraphReduction>& kept) {
  if (c.train_graphs > 0) keep_train_graphs(data, c.train_graphs);
  if (!data.reduction) data = reduced(std::move(data), c, kept);
  if (data.transform) return data;
  // Tables without features have them already.
  if (c.structure && structural_feature_count(data) == 0) add_structural_features(data);
  const auto training = training_nodes(data, c);
  data.transform = std::make_shared<FeatureTransform>(
      transform != nullptr ? *transform : FeatureTransform::fit(data, training, c.feature_norm));
  const bool named = !data.columns.empty();
  data.features = data.transform->apply(data);
  data.columns.clear();
  if (named)
    for (std::string& name : data.transform->names()) data.columns.push_back({std::move(name), {}});
  for (const auto& [column, words] : data.transform->treatments())
    for (ColumnReport& row : data.report)
      if (row.column == column && (row.role == ColumnRole::numbers || row.role == ColumnRole::category))
        row.treatment = words;
  return data;
}

int64_t prepared_feature_count(const Dataset& raw, const TrainConfig& c) {
  if (raw.transform) return raw.feature_count();
  const auto outputs = [&](const Dataset& data) {
    return FeatureTransform::fit(data, training_nodes(data, c), c.feature_norm).outputs();
  };
  if (!c.structure || structural_feature_count(raw) > 0) return outputs(raw);
  // What a transform makes of the others depends on the columns' names, which come with the structural ones.
  Dataset with_structure = raw;
  add_structural_features(with_structure);
  return outputs(with_structure);
}

Propagation make_propagation(const Dataset& dataset, const TrainConfig& c) {
  return make_propagation(dataset.graph, c.propagation);
}

TrainConfig with_weight_scale(const Dataset& dataset, TrainConfig c) {
  if (dataset.spread && dataset.spread->weight_scale > 0)
    c.propagation.weight_scale = dataset.spread->weight_scale;
  else if (!dataset.graph.weight.empty())
    c.propagation.weight_scale = scale_of_weights(dataset.graph, c.propagation);
  return c;
}

SolverOptions solver_options(const TrainConfig& c) {
  const EignnOptions& model = c.eignn();
  SolverOptions options;
  options.gamma = model.gamma;
  options.epsilon = model.epsilon;
  options.dtype = torch_dtype(c.dtype);
  options.device = torch_device(c.device);
  options.max_iterations = 5000;  // a solve that takes more means that training has diverged
  options.memory = c.memory.empty() ? 0 : bytes_of(c.memory);
  options.tf32 = c.tf32 && options.device.is_cuda();
  options.eigenpairs = model.eigenpairs;
  options.fixed_features = model.encoder == 0 && model.layers == 1 && !model.label_inputs;
  return options;
}

namespace {

// The model of one process that has whole graphs.
std::shared_ptr<Model> dealt_model(const Dataset& dataset, const TrainConfig& c, SpectrumStore* store) {
  const Spread& spread = *dataset.spread;
  const EignnOptions& model = c.eignn();
  check(model);
  SolverOptions options = solver_options(c);
  options.store = store;
  TrainConfig scaled = with_weight_scale(dataset, c);
  const int64_t m = rows_of_F(model, model.encoder > 0 ? model.encoder : dataset.feature_count());
  std::vector<GraphPart> parts;
  const auto matrices = [&](const TrainConfig& of) {
    auto graphs = graph_matrices(dataset, of);
    if (graphs.size() == 1) graphs[0].nodes = dataset.members()[0];
    return graphs;
  };
  for (auto& graph : matrices(scaled))
    parts.push_back({std::move(graph.nodes), make_solver(spread.solver, graph.S, options, m), {}});
  for (const Direction direction : c.further_directions) {
    scaled.propagation.direction = direction;
    const auto graphs = matrices(scaled);
    for (size_t g = 0; g < parts.size(); ++g)
      parts[g].further.push_back(make_solver(spread.solver, graphs[g].S, options, m));
  }
  const bool by_entries = model.encoder > 0 || m < dataset.feature_count();
  const auto features = model_features(dataset),
             X = by_entries ? features : dense_matrix(features, "eignn without a rank or an encoder");
  auto made = make_eignn(std::move(parts), X, dataset.classes, model, stream_seed(c.seed, Stream::start));
  made->share_batches([ranks = spread.ranks](const torch::Tensor& here) { return ranks.sum(here); });
  return made;
}

// The model of one process, whose solver has S among all.
std::shared_ptr<Model> spread_model(const Dataset& dataset, const TrainConfig& c) {
  const EignnOptions& model = c.eignn();
  check(model);
  const auto without_arcs = std::make_shared<Propagation>(make_propagation(dataset.graph));
  const auto X =
      model.encoder > 0 ? dataset.features : dense_matrix(dataset.features, "eignn without an encoder");
  SolverOptions options = solver_options(c);
  options.terms = dataset.spread->terms;
  return make_eignn(make_sparse(without_arcs, options, dataset.spread->S), X, dataset.classes, model,
                    stream_seed(c.seed, Stream::start));
}

}  // namespace

std::shared_ptr<Model> make_model(const Dataset& dataset, const TrainConfig& c, SpectrumStore* store) {
  if (!torch::isfinite(stored_numbers(dataset.features)).all().item<bool>())
    throw DataError(dataset.name, "", "a feature is not finite", "clean the data first");
  if (dataset.spread) return dataset.spread->S ? spread_model(dataset, c) : dealt_model(dataset, c, store);
  warn_of_unread_weights(dataset, c);
  std::vector<GraphMatrix> graphs = graph_matrices(dataset, c);
  const uint64_t seed = stream_seed(c.seed, Stream::start);
  const auto features = model_features(dataset);
  const auto of_nodes = [&](std::shared_ptr<Model> made) {
    if (dataset.reduction && !dataset.reduction->is_partition())
      made->predict_by_clusters(torch::tensor(dataset.reduction->group_of, torch::kInt64));
    return made;
  };
  if (!c.is_eignn())
    return of_nodes(make_baseline(c.model, graphs, dense_matrix(features, name(c.model)), dataset.classes,
                                  torch::dtype(torch_dtype(c.dtype)).device(torch_device(c.device)), seed));

  const EignnOptions& model = c.eignn();
  check(model);
  SolverOptions options = solver_options(c);
  options.store = store;
  const int64_t read = dataset.feature_count() + (model.label_inputs ? dataset.classes : 0),
                m = rows_of_F(model, model.encoder > 0 ? model.encoder : read);
  const auto solver_for = [&](const std::vector<GraphMatrix>& matrices) -> std::string {
    if (model.equilibria == 0) return "picard";  // is never asked, and prepares nothing
    return chosen_solver(matrices, dataset, c);
  };
  const std::string solver = solver_for(graphs);
  std::vector<GraphPart> parts;
  for (auto& graph : graphs)
    parts.push_back({std::move(graph.nodes), make_solver(solver, graph.S, options, m), {}});
  for (const Direction direction : c.further_directions) {
    TrainConfig other = c;
    other.propagation.direction = direction;
    const std::vector<GraphMatrix> matrices = graph_matrices(dataset, other);
    const std::string its_solver = solver_for(matrices);
    for (size_t g = 0; g < parts.size(); ++g)
      parts[g].further.push_back(make_solver(its_solver, matrices[g].S, options, m));
  }
  // The full F of many features would not fit into memory anyway, and a stack adds states to features.
  const bool by_entries = model.encoder > 0 || (!is_stack(model) && m < dataset.feature_count());
  const auto X = by_entries ? features : dense_matrix(features, "eignn without a rank or an encoder");
  return of_nodes(make_eignn(std::move(parts), X, dataset.classes, model, seed));
}

}  // namespace eignn
