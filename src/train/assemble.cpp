// From a configuration to the things it names.
#include <fmt/format.h>
#include <torch/torch.h>

#include "eignn/error.h"
#include "eignn/training.h"
#include "graph/random_stream.h"
#include "train/config.h"
#include "train/plan_request.h"

namespace eignn {

namespace {

// Rows divided by their sum; rows of zeros stay zero.
torch::Tensor row_normalised(const torch::Tensor& X, const std::string& name) {
  if ((X < 0).any().item<bool>())
    throw InputError(
        fmt::format("a feature is negative, so that a row's sum says nothing of its size ({}); use "
                    "--feature-norm none",
                    name));
  const auto sum = X.sum(1, /*keepdim=*/true);
  return X / torch::where(sum > 0, sum, torch::ones_like(sum));
}

// Trains on the first `count` of the graphs that the split trains on.
void keep_train_graphs(Dataset& set, int64_t count) {
  if (set.graphs() == 1)
    throw InputError(fmt::format(
        "there is one graph, and no choice of graphs to train on ({}); leave out --train-graphs", set.name));
  const auto graph_of = torch::tensor(set.graph_of, torch::kInt64);
  for (Split& split : set.splits) {
    const auto graph = graph_of.index_select(0, split.train);
    const auto trained = std::get<0>(at::_unique(graph));  // ascending
    if (count < trained.numel()) split.train = split.train.masked_select(graph < trained[count]);
  }
}

BaselineOptions baseline_options(const TrainConfig& c) {
  BaselineOptions options;
  options.head = parse_head(c.head);
  options.dropout = c.dropout;
  options.hidden = c.hidden;
  options.layers = c.layers;
  options.heads = c.heads;
  options.output_heads = c.output_heads;
  options.hops = c.hops;
  options.alpha = c.alpha;
  options.theta = c.theta;
  options.kappa = c.kappa;
  options.tolerance = c.tolerance;
  options.max_iterations = c.max_iterations;
  options.implicit_layers = c.implicit_layers;
  options.samples = c.samples;
  options.samples_second = c.samples_second;
  return options;
}

}  // namespace

PropagationOptions propagation_options(const TrainConfig& c) {
  return {parse_direction(c.direction), parse_normalisation(c.normalise), c.self_loops == "on"};
}

Dataset load_dataset(const TrainConfig& c) {
  Dataset set = load_dataset(
      c.dataset, {c.chain_length, c.chains_per_class, c.num_classes, c.feature_dim, c.noise}, c.seed);
  if (c.train_graphs > 0) keep_train_graphs(set, c.train_graphs);
  if (c.feature_norm == "row") set.features = row_normalised(set.features, set.name);
  return set;
}

Propagation make_propagation(const Dataset& dataset, const TrainConfig& c) {
  return make_propagation(dataset.graph, propagation_options(c));
}

SolverOptions solver_options(const TrainConfig& c) {
  SolverOptions options;
  options.gamma = c.gamma;
  options.epsilon = c.epsilon;
  options.dtype = parse_dtype(c.dtype);
  options.device = parse_device(c.device);
  options.max_iterations = 5000;  // a step that takes more is no step forward: the weights went astray
  options.tf32 = c.tf32 == "on" && options.device.is_cuda();
  options.features_stay = c.encoder == 0;
  return options;
}

std::shared_ptr<Model> make_model(const Dataset& dataset, const TrainConfig& c, SpectrumStore* store) {
  if (!torch::isfinite(dataset.features).all().item<bool>())
    throw InputError(fmt::format("a feature is not finite ({}); clean the data first", dataset.name));
  std::vector<GraphMatrix> graphs = graph_matrices(dataset, c);
  const uint64_t seed = stream_seed(c.seed, Stream::start);
  if (c.model != "eignn")
    return make_baseline(c.model, graphs, dataset.features, dataset.classes, baseline_options(c),
                         torch::dtype(parse_dtype(c.dtype)).device(parse_device(c.device)), seed);

  SolverOptions options = solver_options(c);
  options.store = store;
  const int64_t m = c.encoder > 0 ? c.encoder : dataset.feature_count();
  const std::string solver =
      c.solver == "auto" ? plan_solver(plan_request(graphs, dataset, c)).solver : c.solver;
  std::vector<GraphPart> parts;
  for (auto& graph : graphs)
    parts.push_back({std::move(graph.nodes), make_solver(solver, graph.S, options, m)});
  return make_eignn(
      std::move(parts), dataset.features, dataset.classes,
      {parse_head(c.head), parse_start(c.start), c.dropout, c.encoder, c.equilibria, c.width, c.blocks},
      seed);
}

}  // namespace eignn
