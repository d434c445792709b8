#include "train/plan_request.h"

#include <torch/torch.h>

#include <algorithm>

#include "equilibrium/signal_hops.h"
#include "graph/grouping.h"
#include "train/assemble.h"
#include "train/graph_reduction.h"

namespace eignn {

namespace {

std::vector<int64_t> true_places(const torch::Tensor& mask) {
  const auto places = mask.nonzero().squeeze(1).contiguous();
  return {places.data_ptr<int64_t>(), places.data_ptr<int64_t>() + places.numel()};
}

// The rows that are not zero, bool (n,).
torch::Tensor filled_rows(const torch::Tensor& X) {
  if (!X.is_sparse()) return X.ne(0).any(1);
  const auto entries = X.coalesce();
  const auto rows = entries.indices()[0].masked_select(entries.values().ne(0));
  return torch::zeros({X.size(0)}, torch::kBool).index_fill_(0, rows, 1);
}

const GraphMatrix& largest(const std::vector<GraphMatrix>& graphs) {
  return *std::max_element(graphs.begin(), graphs.end(), [](const GraphMatrix& a, const GraphMatrix& b) {
    return a.S->entries() < b.S->entries();
  });
}

// The part of the request that follows from the configuration without the data.
PlanRequest request_for(const Propagation& S, int64_t features, const TrainConfig& c) {
  PlanRequest request{S};
  request.options = solver_options(c);
  const EignnOptions& model = c.eignn();
  request.width = model.encoder > 0 ? model.encoder : features;
  request.thin = model.rank > 0 && model.rank < request.width;
  if (request.thin) request.width = model.rank;
  const int64_t of_each_source = model.equilibria * (model.source == Source::both ? 2 : 1);
  request.equilibria = of_each_source * model.layers;
  if (is_stack(model)) {
    if (model.layers > 1) {
      const int64_t widest = std::max(model.encoder > 0 ? model.encoder : features, model.hidden);
      request.thin = model.rank > 0 && model.rank < widest;
      request.width = request.thin ? model.rank : widest;
    }
    request.reads = Reads::all_nodes;
    return request;
  }
  const Norm norm = norm_of(model);
  // The condition of Eignn::can_project().
  if (!request.thin && model.head == Head::plain && norm == Norm::none && model.encoder == 0 &&
      of_each_source == 1 && c.further_directions.empty())
    request.reads = Reads::scores_only;
  if (norm == Norm::batch) request.reads = Reads::all_nodes;
  return request;
}

// The graph of the clusters, of whose arcs `options` makes S.
Graph graph_of_clusters(const Dataset& dataset, const PropagationOptions& options) {
  const GraphReduction& clusters = *dataset.reduction;
  const double own = options.self_loops ? options.weight_scale : 0;
  // Arcs are read both ways before they are added up.
  const bool both_ways = options.direction == Direction::undirected;
  return coarse_graph(both_ways ? dataset.graph.symmetrised() : dataset.graph,
                      {clusters.groups, clusters.group_of}, own);
}

// Those of each of several graphs.
std::vector<std::vector<int64_t>> clusters_of_graphs(const Dataset& dataset) {
  const GraphReduction& clusters = *dataset.reduction;
  std::vector<int64_t> graph_of(static_cast<size_t>(clusters.groups));
  for (int64_t v = 0; v < dataset.nodes(); ++v) graph_of[clusters.group_of[v]] = dataset.graph_of[v];
  return Grouping{dataset.graphs(), graph_of}.members();
}

}  // namespace

std::vector<GraphMatrix> graph_matrices(const Dataset& dataset, const TrainConfig& config) {
  const bool several = dataset.graphs() > 1;
  const bool coarse = dataset.reduction && !dataset.reduction->is_partition();
  // Several graphs have one scale of weights, so that an arc of one weight is the same in all of them.
  PropagationOptions options = several ? with_weight_scale(dataset, config).propagation : config.propagation;
  std::vector<GraphMatrix> graphs;
  const auto matrix = [&](const Graph& of) {
    return std::make_shared<Propagation>(make_propagation(of, options));
  };
  // Weights of clusters are sums, which the scale of their arcs leaves in proportion to I.
  if (coarse) options.weight_scale = scale_of_weights(dataset.graph, options);
  const Graph merged = coarse ? graph_of_clusters(dataset, options) : Graph();
  const Graph& graph = coarse ? merged : dataset.graph;
  if (!several) {
    graphs.push_back({{}, matrix(graph)});
    return graphs;
  }
  for (auto& nodes : coarse ? clusters_of_graphs(dataset) : dataset.members()) {
    auto S = matrix(induced_graph(graph, nodes));
    graphs.push_back({std::move(nodes), std::move(S)});
  }
  return graphs;
}

PlanRequest plan_request(const std::vector<GraphMatrix>& graphs, const Dataset& dataset,
                         const TrainConfig& c) {
  const GraphMatrix& graph = largest(graphs);
  const int64_t labels = c.eignn().label_inputs ? dataset.classes : 0;
  PlanRequest request = request_for(*graph.S, dataset.feature_count() + labels, c);
  request.outputs = std::max<int64_t>(dataset.classes, 1);  // 0 without labels
  const bool several = graphs.size() > 1;
  if (several) {
    // A step computes whole graphs, and an epoch trains on most of them.
    request.reads = Reads::all_nodes;
    request.trained = request.evaluated = graph.S->nodes;
  } else if (!dataset.splits.empty()) {
    request.trained = std::min(dataset.splits[0].train.size(0), graph.S->nodes);
    request.evaluated = std::min(dataset.splits[0].val.size(0), graph.S->nodes);
  }
  // The encoder's bias, or that of a layer, gives features to every node. At a node with features of its own
  // a signal below their round-off is lost with every solver, so that distance does not matter there.
  if (c.eignn().encoder > 0 || c.eignn().layers > 1) {
    request.hops = 0;
    return request;
  }
  const auto all = model_features(dataset);
  const auto X = several ? all.index_select(0, torch::tensor(graph.nodes, torch::kInt64)) : all;
  if (X.numel() == 0) return request;
  const auto entries = X.is_sparse() ? X.coalesce().values() : X;
  request.density =
      static_cast<double>(entries.count_nonzero().item<int64_t>()) / static_cast<double>(X.numel());
  request.hops = farthest_hops(*graph.S, true_places(filled_rows(X)),
                               decay_per_hop(request.options.gamma, static_cast<double>(request.width)));
  return request;
}

PlanRequest plan_request(const Propagation& S, const TrainConfig& config) {
  PlanRequest request = request_for(S, config.feature_dim, config);
  if (config.eignn().encoder > 0 || config.eignn().layers > 1) request.hops = 0;
  return request;
}

}  // namespace eignn
