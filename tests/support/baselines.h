// A baseline on a small graph, and its weights by name.
#pragma once

#include <torch/torch.h>

#include "eignn/model.h"
#include "support/any_options.h"
#include "support/oracle.h"

namespace eignn::test {

constexpr int64_t features = 6, classes = 3;

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
