#include "train/assemble.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include "eignn/error.h"
#include "graph/random_stream.h"
#include "train/config.h"

namespace eignn {

namespace {

// Rows divided by their sum; rows of zeros stay zero.
torch::Tensor row_normalised(const torch::Tensor& X, const std::string& name) {
  if ((X < 0).any().item<bool>())
    throw DataError(name, "", "a feature is negative, so that a row's sum says nothing of its size",
                    "use feature-norm none");
  const auto sum = X.sum(1, /*keepdim=*/true);
  return X / torch::where(sum > 0, sum, torch::ones_like(sum));
}

// The arcs among `nodes` (ascending), renumbered.
Graph induced(const Graph& graph, const std::vector<int64_t>& nodes) {
  std::vector<int64_t> local(graph.nodes, -1), source, target;
  for (size_t k = 0; k < nodes.size(); ++k) local[nodes[k]] = static_cast<int64_t>(k);
  for (const int64_t v : nodes)
    for (int64_t a = graph.row_begin[v]; a < graph.row_begin[v + 1]; ++a) {
      source.push_back(local[v]);
      target.push_back(local[graph.target[a]]);
    }
  return Graph::from_arcs(static_cast<int64_t>(nodes.size()), source, target);
}

// Trains on the first `count` of the graphs that the split trains on.
void keep_train_graphs(Dataset& set, int64_t count) {
  if (set.graphs() == 1)
    throw ArgumentError("train-graphs",
                        fmt::format("{} has one graph, and no choice of graphs to train on", set.name),
                        "leave it out");
  const auto graph_of = torch::tensor(set.graph_of, torch::kInt64);
  for (Split& split : set.splits) {
    const auto graph = graph_of.index_select(0, split.train);
    const auto trained = std::get<0>(at::_unique(graph));  // ascending
    if (count < trained.numel()) split.train = split.train.masked_select(graph < trained[count]);
  }
}

}  // namespace

Dataset load_dataset(const TrainConfig& c) {
  return prepared(
      load_dataset(c.dataset, {c.chain_length, c.chains_per_class, c.num_classes, c.feature_dim, c.noise},
                   c.seed),
      c);
}

Dataset prepared(Dataset data, const TrainConfig& c) {
  if (c.train_graphs > 0) keep_train_graphs(data, c.train_graphs);
  if (c.feature_norm == FeatureNorm::row) data.features = row_normalised(data.features, data.name);
  return data;
}

Propagation make_propagation(const Dataset& dataset, const TrainConfig& c) {
  return make_propagation(dataset.graph, c.propagation);
}

SolverOptions solver_options(const TrainConfig& c) {
  const EignnOptions& model = c.eignn();
  SolverOptions options;
  options.gamma = model.gamma;
  options.epsilon = model.epsilon;
  options.dtype = torch_dtype(c.dtype);
  options.device = torch_device(c.device);
  options.max_iterations = 5000;  // a step that takes more is no step forward: the weights went astray
  options.tf32 = c.tf32 && options.device.is_cuda();
  options.features_stay = model.encoder == 0;
  return options;
}

std::shared_ptr<Model> make_model(const Dataset& dataset, const TrainConfig& c, SpectrumStore* store) {
  if (!torch::isfinite(dataset.features).all().item<bool>())
    throw DataError(dataset.name, "", "a feature is not finite", "clean the data first");
  const bool several = dataset.graphs() > 1;
  std::vector<GraphMatrix> graphs;
  for (auto& nodes : dataset.members()) {
    const Graph graph = several ? induced(dataset.graph, nodes) : dataset.graph;
    graphs.push_back({several ? std::move(nodes) : std::vector<int64_t>(),
                      std::make_shared<Propagation>(make_propagation(graph, c.propagation))});
  }
  const uint64_t seed = stream_seed(c.seed, Stream::start);
  if (!c.is_eignn())
    return make_baseline(c.model, graphs, dataset.features, dataset.classes,
                         torch::dtype(torch_dtype(c.dtype)).device(torch_device(c.device)), seed);

  const EignnOptions& model = c.eignn();
  SolverOptions options = solver_options(c);
  options.store = store;
  const int64_t m = model.encoder > 0 ? model.encoder : dataset.feature_count();
  const bool needs_all = several || model.head == Head::batch_norm;
  std::vector<GraphPart> parts;
  for (auto& graph : graphs)
    parts.push_back({std::move(graph.nodes), make_solver(model.solver, graph.S, options, m, needs_all)});
  return make_eignn(std::move(parts), dataset.features, dataset.classes, model, seed);
}

}  // namespace eignn
