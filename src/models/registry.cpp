// Models by name.
#include <algorithm>
#include <utility>

#include "eignn/error.h"
#include "eignn/model.h"
#include "graph/nearest_name.h"
#include "graph/unique_components.h"
#include "models/alike.h"
#include "models/baselines.h"
#include "models/check_features.h"
#include "models/graph_model.h"

namespace eignn {

namespace {

using Make = std::shared_ptr<Model> (*)(const BaselineInputs&);

const std::vector<std::pair<std::string, Make>>& baselines() {
  static const std::vector<std::pair<std::string, Make>> all = {{"mlp", make_mlp},
                                                                {"gcn", make_gcn},
                                                                {"sgc", make_sgc},
                                                                {"gat", make_gat},
                                                                {"jknet", make_jknet},
                                                                {"appnp", make_appnp},
                                                                {"ppnp", make_ppnp},
                                                                {"gcnii", make_gcnii},
                                                                {"h2gcn", make_h2gcn},
                                                                {"geom-gcn", make_geom_gcn},
                                                                {"graphsage", make_graphsage},
                                                                {"sse", make_sse},
                                                                {"ignn", make_ignn},
                                                                {"ignn-finite", make_ignn_finite}};
  return all;
}

// Geom-GCN's radius in the plane is one for all components.
bool sees_components_apart(const std::string& name) {
  return name != "geom-gcn";
}

// One component of each kind, as a graph beside the whole, if it is half the work at most.
void add_alike_nodes(BaselineInputs& inputs) {
  const Propagation& S = *inputs.graphs[0].S;
  AlikeNodes alike = alike_nodes(S, inputs.X);
  if (2 * static_cast<int64_t>(alike.nodes.size()) > S.nodes) return;
  auto part = std::make_shared<Propagation>(restricted(S, alike.nodes));
  inputs.graphs.push_back({std::move(alike.nodes), std::move(part)});
  inputs.like = std::move(alike.like);
}

}  // namespace

const std::vector<std::string>& model_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out = {"eignn"};
    for (const auto& [name, make] : baselines()) out.push_back(name);
    return out;
  }();
  return names;
}

std::shared_ptr<Model> make_baseline(const std::string& name, const std::vector<GraphMatrix>& graphs,
                                     const torch::Tensor& X, int64_t classes, const BaselineOptions& options,
                                     const torch::TensorOptions& type, uint64_t seed) {
  for (const auto& [known, make] : baselines()) {
    if (known != name) continue;
    check_features(X, type);
    check_classes(classes);
    for (const GraphMatrix& graph : graphs) {
      if (!graph.S) throw ArgumentError("graphs", "a graph has no matrix", "make one with make_propagation");
      check_graph_size(graph.S->nodes, graph.nodes, X);
    }
    BaselineInputs inputs{graphs, X, classes, options, type, seed};
    const bool whole = graphs.size() == 1 && graphs[0].nodes.empty();
    if (whole && !X.requires_grad() && sees_components_apart(name)) add_alike_nodes(inputs);
    return make(inputs);
  }
  std::vector<std::string> names(model_names().begin() + 1, model_names().end());
  throw unknown_name("baseline", "model", name, names);
}

}  // namespace eignn
