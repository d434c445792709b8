#include "train/assemble.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include "eignn/error.h"
#include "eignn/warning.h"
#include "graph/random_stream.h"
#include "train/plan_request.h"
#include "train/torch_settings.h"

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

// The planner's choice. Warns of a long preparation, during which there is no output.
std::string planned_solver(const std::vector<GraphMatrix>& graphs, const Dataset& dataset,
                           const TrainConfig& c) {
  const Plan plan = plan_solver(plan_request(graphs, dataset, c));
  constexpr double long_s = 15;
  if (const double seconds = plan.prices.empty() ? 0 : plan.prices[0].preparation_s; seconds > long_s)
    warn(fmt::format("{} prepares for about {:.0f} s before the first epoch", plan.solver, seconds));
  return plan.solver;
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
  options.max_iterations = 5000;  // a solve that takes more means that training has diverged
  options.tf32 = c.tf32 && options.device.is_cuda();
  options.fixed_features = model.encoder == 0;
  return options;
}

std::shared_ptr<Model> make_model(const Dataset& dataset, const TrainConfig& c, SpectrumStore* store) {
  if (!torch::isfinite(dataset.features).all().item<bool>())
    throw DataError(dataset.name, "", "a feature is not finite", "clean the data first");
  std::vector<GraphMatrix> graphs = graph_matrices(dataset, c);
  const uint64_t seed = stream_seed(c.seed, Stream::start);
  if (!c.is_eignn())
    return make_baseline(c.model, graphs, dataset.features, dataset.classes,
                         torch::dtype(torch_dtype(c.dtype)).device(torch_device(c.device)), seed);

  const EignnOptions& model = c.eignn();
  SolverOptions options = solver_options(c);
  options.store = store;
  const int64_t m = model.encoder > 0 ? model.encoder : dataset.feature_count();
  const std::string solver = model.solver == "auto" ? planned_solver(graphs, dataset, c) : model.solver;
  std::vector<GraphPart> parts;
  for (auto& graph : graphs)
    parts.push_back({std::move(graph.nodes), make_solver(solver, graph.S, options, m)});
  return make_eignn(std::move(parts), dataset.features, dataset.classes, model, seed);
}

}  // namespace eignn
