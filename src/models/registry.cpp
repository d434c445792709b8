// The models by their options.
#include <algorithm>
#include <utility>

#include "eignn/error.h"
#include "eignn/model.h"
#include "equilibrium/torch_errors.h"
#include "graph/unique_components.h"
#include "models/alike.h"
#include "models/baselines.h"
#include "models/check_features.h"
#include "models/graph_model.h"

namespace eignn {

namespace {

// One function per model: a new entry of ModelOptions does not compile without one.

struct MakeModel {
  const BaselineInputs& in;
  std::shared_ptr<Model> operator()(const EignnOptions&) const {
    throw ArgumentError("model", "eignn is no baseline", "make it with make_eignn");
  }
  std::shared_ptr<Model> operator()(const MlpOptions& options) const { return make_mlp(in, options); }
  std::shared_ptr<Model> operator()(const GcnOptions& options) const { return make_gcn(in, options); }
  std::shared_ptr<Model> operator()(const SgcOptions& options) const { return make_sgc(in, options); }
  std::shared_ptr<Model> operator()(const GatOptions& options) const { return make_gat(in, options); }
  std::shared_ptr<Model> operator()(const JknetOptions& options) const { return make_jknet(in, options); }
  std::shared_ptr<Model> operator()(const AppnpOptions& options) const { return make_appnp(in, options); }
  std::shared_ptr<Model> operator()(const PpnpOptions& options) const { return make_ppnp(in, options); }
  std::shared_ptr<Model> operator()(const GcniiOptions& options) const { return make_gcnii(in, options); }
  std::shared_ptr<Model> operator()(const H2gcnOptions& options) const { return make_h2gcn(in, options); }
  std::shared_ptr<Model> operator()(const GeomGcnOptions& options) const {
    return make_geom_gcn(in, options);
  }
  std::shared_ptr<Model> operator()(const GraphsageOptions& options) const {
    return make_graphsage(in, options);
  }
  std::shared_ptr<Model> operator()(const SseOptions& options) const { return make_sse(in, options); }
  std::shared_ptr<Model> operator()(const IgnnOptions& options) const { return make_ignn(in, options); }
  std::shared_ptr<Model> operator()(const IgnnFiniteOptions& options) const {
    return make_ignn_finite(in, options);
  }
};

// Whether the scores in a component are independent of the other components. They are not in Geom-GCN, which
// has one radius in the plane for all components.
bool components_are_independent(const ModelOptions& options) {
  return !std::holds_alternative<GeomGcnOptions>(options);
}

// Adds a graph with one component of each kind, if that has at most half of the nodes.
void add_alike_nodes(BaselineInputs& inputs) {
  const Propagation& S = *inputs.graphs[0].S;
  Representatives alike = representatives(S, inputs.X);
  if (2 * static_cast<int64_t>(alike.nodes.size()) > S.nodes) return;
  auto part = std::make_shared<Propagation>(restricted(S, alike.nodes));
  inputs.graphs.push_back({std::move(alike.nodes), std::move(part)});
  inputs.like = std::move(alike.like);
}

}  // namespace

bool reads_edge_weights(const ModelOptions& options) {
  return !std::holds_alternative<GatOptions>(options) && !std::holds_alternative<H2gcnOptions>(options) &&
         !std::holds_alternative<GraphsageOptions>(options);
}

namespace {

std::shared_ptr<Model> made_baseline(const ModelOptions& options, const std::vector<GraphMatrix>& graphs,
                                     const torch::Tensor& X, int64_t classes,
                                     const torch::TensorOptions& type, uint64_t seed) {
  check_features(X, type);
  check_classes(classes);
  for (const GraphMatrix& graph : graphs) {
    if (!graph.S) throw ArgumentError("graphs", "a graph has no matrix", "make one with make_propagation");
    check_graph_size(graph.S->nodes, graph.nodes, X);
  }
  BaselineInputs inputs{graphs, X, classes, type, seed};
  const bool whole = graphs.size() == 1 && graphs[0].nodes.empty();
  if (whole && !X.requires_grad() && components_are_independent(options)) add_alike_nodes(inputs);
  return std::visit(MakeModel{inputs}, options);
}

}  // namespace

std::shared_ptr<Model> make_baseline(const ModelOptions& options, const std::vector<GraphMatrix>& graphs,
                                     const torch::Tensor& X, int64_t classes,
                                     const torch::TensorOptions& type, uint64_t seed) {
  return with_our_errors("make_baseline",
                         [&] { return made_baseline(options, graphs, X, classes, type, seed); });
}

}  // namespace eignn
