#include "run/own_rule.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "graph/statistics.h"
#include "run/recipes.h"

namespace eignn {

namespace {

// Below this adjusted homophily a node's neighbours say little by agreeing with it, and a layer that only
// sums them up loses what tells it apart. Above it the one linear equilibrium of [own] does as well and can
// be explained exactly.
constexpr double homophilous = 0.3;
constexpr int64_t least_arcs = 50;              // between training nodes, to speak of homophily
constexpr int64_t labels_for_stack = 500;       // a stack has some 50 000 weights
constexpr int64_t arcs_for_stack = 10'000'000;  // beyond, an epoch of a stack takes minutes on a CPU

// The classes of the first split's training nodes, -1 elsewhere; empty where labels are no classes.
std::vector<int64_t> training_classes(const Dataset& raw) {
  if (!raw.labels.defined() || raw.multi_label() || raw.is_regression() || raw.splits.empty()) return {};
  const auto nodes = raw.splits[0].train;
  const auto known = torch::full({raw.nodes()}, -1, torch::kInt64)
                         .index_put_({nodes}, raw.labels.index_select(0, nodes))
                         .contiguous();
  return {known.data_ptr<int64_t>(), known.data_ptr<int64_t>() + known.numel()};
}

// Some pairs are joined one way and some both ways. A list in which no pair is joined both ways may be one of
// undirected edges, each written once.
bool is_directed(const Graph& graph) {
  const double answered = reciprocity(graph);
  return answered > 0.02 && answered < 0.9;
}

}  // namespace

OwnChoice choose_own_table(const Dataset& raw) {
  // A scaled column has no zeros, and an encoder's states no few dimensions that matter.
  if (raw.features.is_sparse())
    return {"own-wide", fmt::format("its {} features stay sparse", raw.feature_count())};
  const auto classes = training_classes(raw);
  if (classes.empty()) return {"own", "its labels are not one class a node"};
  const int64_t labels = raw.splits[0].train.numel();
  if (labels < labels_for_stack) return {"own", fmt::format("{} training nodes are few", labels)};
  if (raw.graph.arcs() > arcs_for_stack)
    return {"own", fmt::format("{} arcs are many for a stack of equilibria", raw.graph.arcs())};
  const double homophily = adjusted_homophily(raw.graph, classes, least_arcs);
  if (std::isnan(homophily)) return {"own", "too few arcs join training nodes to say how they agree"};
  if (homophily >= homophilous)
    return {"own", fmt::format("neighbours tend to be of one class (adjusted homophily {:.2f})", homophily)};
  const std::string apart = fmt::format(
      "neighbours are hardly more often of one class than by chance (adjusted homophily {:.2f})", homophily);
  if (is_directed(raw.graph)) return {"own-directed-stack", apart + ", and arcs have directions"};
  return {"own-stack", apart};
}

OwnChoice apply_own_rule(TrainConfig& config, const std::set<std::string>& given, const Dataset& raw,
                         std::set<std::string>* applied) {
  OwnChoice choice = choose_own_table(raw);
  if (choice.table != "own") apply_recipe(config, given, choice.table, applied);
  return choice;
}

}  // namespace eignn
