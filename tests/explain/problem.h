// Small random problems with a model whose weights are random too, for explanations.
#pragma once

#include <torch/torch.h>

#include <cmath>
#include <memory>

#include "explain/explainer.h"
#include "run/checkpoint.h"
#include "support/any_options.h"
#include "support/oracle.h"
#include "support/random_weights.h"
#include "train/assemble.h"

namespace eignn::test {

struct ExplainProblem {
  Dataset data;
  TrainConfig config;
  std::shared_ptr<Model> model;

  ExplainProblem(const ModelOptions& options, Graph graph, const PropagationOptions& propagation = {},
                 uint64_t seed = 1, int64_t features = 5, int64_t classes = 3) {
    const int64_t n = graph.nodes;
    data.name = "random";
    data.graph = std::move(graph);
    data.features = random_matrix(n, features, seed + 100);
    data.classes = classes;
    data.labels = torch::arange(n).remainder(classes);
    data.known = torch::ones({n}, torch::kBool);
    config.model = options;
    config.propagation = propagation;
    config.dtype = Precision::float64;
    config.seed = seed;
    remake();
  }
  explicit ExplainProblem(const ModelOptions& options, const PropagationOptions& propagation = {},
                          uint64_t seed = 1)
      : ExplainProblem(options, random_graph(18, 1.5, seed), propagation, seed) {}

  // After a change of the data; the weights stay those of the seed.
  void remake() {
    model = make_model(data, config, nullptr);
    const torch::NoGradGuard guard;
    auto buffers = model->named_buffers();
    auto weights = model->named_parameters();
    if (buffers.contains("norm.running_mean")) {  // moments and an affine map that are not trivial
      buffers["norm.running_mean"].fill_(0.3);
      buffers["norm.running_var"].copy_(torch::linspace(0.5, 2, buffers["norm.running_var"].size(0)));
      weights["norm.bias"].fill_(0.1);
    }
    for (const char* bias : {"encoder_bias", "intercept"})
      if (weights.contains(bias)) weights[bias].copy_(torch::linspace(-0.4, 0.7, weights[bias].size(0)));
    model->eval();
  }

  Explainer explainer() { return Explainer(*model, data, config); }

  /// The scores with other features, (n, classes).
  torch::Tensor scores(const torch::Tensor& X) const {
    const torch::NoGradGuard guard;
    model->use_features(X);
    auto f = model->scores(torch::arange(data.nodes())).clone();
    model->use_features(data.features);
    return f;
  }
  torch::Tensor scores() const { return scores(data.features); }
};

/// The same problem with weights of the arcs that are four orders of magnitude apart.
inline ExplainProblem weighted_problem(const ModelOptions& options,
                                       const PropagationOptions& propagation = {}, uint64_t seed = 1) {
  return ExplainProblem(options, with_random_weights(random_graph(18, 1.5, seed), 4, seed), propagation,
                        seed);
}

/// The contributions by node; 0 where an explanation lists none.
inline torch::Tensor by_node(const Explanation& why, int64_t nodes) {
  auto out = torch::zeros({nodes}, torch::kFloat64);
  for (const auto& part : why.nodes) out[part.node] = part.contribution;
  return out;
}

inline torch::Tensor by_feature(const Explanation& why) {
  auto out = torch::zeros({static_cast<int64_t>(why.features.size())}, torch::kFloat64);
  for (const auto& part : why.features) out[part.feature] = part.contribution;
  return out;
}

inline EignnOptions eignn_options(Head head, const char* solver = "sparse") {
  EignnOptions options;
  options.head = head;
  options.solver = solver;
  options.width = 7;
  return options;
}

inline PropagationOptions along(Direction direction, Normalisation normalise = Normalisation::sym,
                                bool self_loops = true) {
  PropagationOptions options;
  options.direction = direction;
  options.normalise = normalise;
  options.self_loops = self_loops;
  return options;
}

/// EIGNN in the ways in which its contributions are exact.
inline std::vector<EignnOptions> exact_options() {
  std::vector<EignnOptions> all;
  for (const Head head : {Head::plain, Head::batch_norm})
    for (const char* solver : {"spectral", "krylov", "deflated", "sparse", "picard", "direct"})
      all.push_back(eignn_options(head, solver));
  for (const Head head : {Head::plain, Head::batch_norm})
    for (const Activation activation : {Activation::none, Activation::relu}) {
      auto options = eignn_options(head, "direct");
      options.encoder = 4;
      options.encoder_activation = activation;
      options.equilibria = 2;
      options.intercept = true;
      all.push_back(options);
    }
  for (const Source source : {Source::neighbours, Source::both})
    for (const char* solver : {"spectral", "sparse", "direct"}) {
      auto options = eignn_options(Head::plain, solver);
      options.source = source;
      all.push_back(options);
      options.encoder = 4;
      options.head = Head::batch_norm;
      all.push_back(options);
    }
  for (const Head head : {Head::plain, Head::batch_norm})
    for (const char* solver : {"spectral", "krylov", "deflated", "sparse", "picard", "direct"}) {
      auto options = eignn_options(head, solver);
      options.rank = 2;
      all.push_back(options);
    }
  return all;
}

inline std::string words(const EignnOptions& options) {
  return fmt::format("{}, {}, rank {}, source {}, encoder {} {}, {} equilibria", name(options.head),
                     options.solver, options.rank, name(options.source), options.encoder,
                     name(options.encoder_activation), options.equilibria);
}

}  // namespace eignn::test
