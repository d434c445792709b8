// A baseline on a small graph, and its weights by name.
#pragma once

#include <fmt/format.h>
#include <torch/torch.h>

#include <map>

#include "eignn/model.h"
#include "support/oracle.h"

namespace eignn::test {

constexpr int64_t features = 6, classes = 3;

/// Options that several models have, so that one test can go over all of them.
struct AnyOptions {
  Head head = Head::plain;
  double dropout = 0;
  int64_t hidden = 64, layers = 2, heads = 8, output_heads = 1, hops = 10;
  double alpha = 0.1, theta = 1, kappa = 0.9, tolerance = 3e-6;
  int64_t max_iterations = 300, implicit_layers = 1, samples = 25, samples_second = 10;
};

/// The model of that name with those of the options that it reads.
inline ModelOptions options_for(const std::string& model, const AnyOptions& any = {}) {
  const auto text = [](auto number) { return fmt::format("{}", number); };
  TrainConfig config;
  config.model = model_options(model);
  const auto read = to_strings(config);
  for (const auto& [name, value] :
       std::map<std::string, std::string>{{"head", name(any.head)},
                                          {"dropout", text(any.dropout)},
                                          {"hidden", text(any.hidden)},
                                          {"layers", text(any.layers)},
                                          {"heads", text(any.heads)},
                                          {"output-heads", text(any.output_heads)},
                                          {"hops", text(any.hops)},
                                          {"alpha", text(any.alpha)},
                                          {"theta", text(any.theta)},
                                          {"kappa", text(any.kappa)},
                                          {"tolerance", text(any.tolerance)},
                                          {"max-iterations", text(any.max_iterations)},
                                          {"implicit-layers", text(any.implicit_layers)},
                                          {"samples", text(any.samples)},
                                          {"samples-second", text(any.samples_second)}})
    if (read.count(name)) assign(config, name, value);
  return config.model;
}

/// A small problem in float64: the karate club unless another graph is given.
struct SmallProblem {
  explicit SmallProblem(const Graph& graph = karate_club(), const PropagationOptions& options = {})
      : S(std::make_shared<Propagation>(make_propagation(graph, options))),
        X(random_matrix(graph.nodes, features, 1)) {}

  std::shared_ptr<Model> model(const std::string& name, const AnyOptions& options = {},
                               uint64_t seed = 7) const {
    auto made = make_baseline(options_for(name, options), {{{}, S}}, X, classes, torch::kFloat64, seed);
    made->eval();
    return made;
  }

  int64_t nodes() const { return S->nodes; }
  /// What is received: Sᵀ.
  torch::Tensor received() const { return dense_S(*S).t(); }

  std::shared_ptr<Propagation> S;
  torch::Tensor X;
};

/// A directed graph: 0 → 1 → … → n-1 with a shortcut and a loop.
inline Graph directed_graph() {
  return Graph::from_arcs(7, {0, 1, 2, 3, 4, 5, 1, 6}, {1, 2, 3, 4, 5, 6, 4, 6});
}
inline PropagationOptions inwards() {
  PropagationOptions options;
  options.direction = Direction::in;
  options.normalise = Normalisation::out_in;
  return options;
}

inline torch::Tensor weight(const Model& model, const std::string& name) {
  return model.named_parameters()[name].detach();
}

inline torch::Tensor scores(Model& model, int64_t nodes) {
  const torch::NoGradGuard guard;
  return model.scores(torch::arange(nodes));
}

/// (f(x + h) - f(x - h)) / 2h in entry k of `x`, in place.
template <class Function>
double central_difference(const torch::Tensor& x, int64_t k, double h, const Function& f) {
  const torch::NoGradGuard guard;
  auto flat = x.view({-1});
  const double start = flat[k].item<double>();
  flat[k] = start + h;
  const double above = f();
  flat[k] = start - h;
  const double below = f();
  flat[k] = start;
  return (above - below) / (2 * h);
}

}  // namespace eignn::test
