// A small random problem with several components, for attacks.
#pragma once

#include <torch/torch.h>

#include "attack/attack.h"
#include "support/any_options.h"
#include "support/oracle.h"

namespace eignn::test {

struct AttackProblem {
  explicit AttackProblem(uint64_t seed, int64_t nodes = 18, int64_t features = 5, int64_t classes = 3) {
    data.graph = random_graph(nodes, 1.5, seed);
    data.features = random_matrix(nodes, features, seed + 100);
    data.classes = classes;
    S = std::make_shared<Propagation>(make_propagation(data.graph));
  }

  std::shared_ptr<Model> eignn(const EignnOptions& options = {}, const char* solver = "spectral") {
    auto model = make_eignn(make_solver(solver, S, {}, data.features.size(1)), data.features, data.classes,
                            options, /*seed=*/7);
    if (options.head == Head::batch_norm) {  // moments and an affine map that are not trivial
      const torch::NoGradGuard guard;
      auto buffers = model->named_buffers();
      buffers["norm.running_mean"].fill_(0.3);
      buffers["norm.running_var"].copy_(torch::linspace(0.5, 2, buffers["norm.running_var"].size(0)));
      model->named_parameters()["norm.bias"].fill_(0.1);
    }
    return labelled(std::move(model));
  }

  std::shared_ptr<Model> baseline(const std::string& name, int64_t layers = 2) {
    test::AnyOptions options;
    options.layers = layers;
    options.hidden = 6;
    options.tolerance = 1e-13;
    options.max_iterations = 5000;
    return labelled(make_baseline(test::options_for(name, options), {{{}, S}}, data.features, data.classes,
                                  torch::kFloat64, 7));
  }

  torch::Tensor all() const { return torch::arange(data.nodes()); }

  Dataset data;
  std::shared_ptr<Propagation> S;

 private:
  // The labels are what the model says, wrong at every fifth node.
  std::shared_ptr<Model> labelled(std::shared_ptr<Model> model) {
    const torch::NoGradGuard guard;
    model->eval();
    data.labels = model->scores(all()).argmax(1);
    for (int64_t v = 0; v < data.nodes(); v += 5)
      data.labels[v] = (data.labels[v].item<int64_t>() + 1) % data.classes;
    return model;
  }
};

/// A model, made on a problem, by a name for people.
struct Maker {
  const char* name;
  std::shared_ptr<Model> (*make)(AttackProblem& problem);
};

inline std::vector<Maker> linear_models() {
  return {{"eignn", [](AttackProblem& p) { return p.eignn(); }},
          {"eignn, krylov", [](AttackProblem& p) { return p.eignn({}, "krylov"); }},
          {"eignn, direct", [](AttackProblem& p) { return p.eignn({}, "direct"); }},
          {"eignn, batch norm",
           [](AttackProblem& p) {
             EignnOptions options;
             options.head = Head::batch_norm;
             return p.eignn(options);
           }},
          {"eignn, two equilibria",
           [](AttackProblem& p) {
             EignnOptions options;
             options.equilibria = 2;
             return p.eignn(options);
           }},
          {"eignn, a thin F",
           [](AttackProblem& p) {
             EignnOptions options;
             options.rank = 2;
             return p.eignn(options);
           }},
          {"eignn, from the neighbours",
           [](AttackProblem& p) {
             EignnOptions options;
             options.source = Source::neighbours;
             return p.eignn(options);
           }},
          {"eignn, both sources, direct",
           [](AttackProblem& p) {
             EignnOptions options;
             options.source = Source::both;
             return p.eignn(options, "direct");
           }},
          {"eignn, an encoder without an activation, intercept",
           [](AttackProblem& p) {
             EignnOptions options;
             options.encoder = 4;
             options.intercept = true;
             options.head = Head::batch_norm;
             return p.eignn(options);
           }},
          {"sgc", [](AttackProblem& p) { return p.baseline("sgc"); }},
          {"mlp of one layer", [](AttackProblem& p) { return p.baseline("mlp", 1); }},
          {"gcn of one layer", [](AttackProblem& p) { return p.baseline("gcn", 1); }}};
}

inline std::vector<Maker> other_models() {
  return {{"eignn, l2",
           [](AttackProblem& p) {
             EignnOptions options;
             options.head = Head::l2;
             return p.eignn(options);
           }},
          {"eignn, encoder",
           [](AttackProblem& p) {
             EignnOptions options;
             options.encoder = 4;
             options.encoder_activation = Activation::relu;
             return p.eignn(options);
           }},
          {"eignn, a stack",
           [](AttackProblem& p) {
             EignnOptions options;
             options.layers = 2;
             options.hidden = 4;
             options.norm = Norm::layer;
             return p.eignn(options);
           }},
          {"mlp", [](AttackProblem& p) { return p.baseline("mlp"); }},
          {"gcn", [](AttackProblem& p) { return p.baseline("gcn"); }},
          {"h2gcn", [](AttackProblem& p) { return p.baseline("h2gcn"); }},
          {"appnp", [](AttackProblem& p) { return p.baseline("appnp"); }},
          {"ignn", [](AttackProblem& p) { return p.baseline("ignn"); }}};
}

inline double largest(const torch::Tensor& t) {
  return t.abs().max().item<double>();
}

}  // namespace eignn::test
