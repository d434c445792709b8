// From a configuration to the things it names.
#include <fmt/format.h>
#include <torch/torch.h>

#include "eignn/error.h"
#include "eignn/training.h"
#include "graph/random_stream.h"
#include "train/config.h"

namespace eignn {

Dataset load_dataset(const TrainConfig& c) {
  return load_dataset(c.dataset, {c.chain_length, c.chains_per_class, c.num_classes, c.feature_dim, c.noise},
                      c.seed);
}

Propagation make_propagation(const Dataset& dataset, const TrainConfig& c) {
  return make_propagation(
      dataset.graph, {parse_direction(c.direction), parse_normalisation(c.normalise), c.self_loops == "on"});
}

SolverOptions solver_options(const TrainConfig& c) {
  SolverOptions options;
  options.gamma = c.gamma;
  options.epsilon = c.epsilon;
  options.dtype = parse_dtype(c.dtype);
  options.device = parse_device(c.device);
  return options;
}

std::shared_ptr<Model> make_model(const Dataset& dataset, const TrainConfig& c, SpectrumStore* store) {
  if (!torch::isfinite(dataset.features).all().item<bool>())
    throw InputError(fmt::format("a feature is not finite ({}); clean the data first", dataset.name));
  SolverOptions options = solver_options(c);
  options.store = store;
  const Head head = parse_head(c.head);
  auto S = std::make_shared<Propagation>(make_propagation(dataset, c));
  auto solver = make_solver(c.solver, S, options, dataset.feature_count(), head == Head::batch_norm);
  return make_eignn(std::move(solver), dataset.features, dataset.classes,
                    {head, parse_start(c.start), c.dropout}, stream_seed(c.seed, Stream::start));
}

}  // namespace eignn
