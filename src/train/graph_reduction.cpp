#include "train/graph_reduction.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "graph/content_hash.h"
#include "graph/grouping.h"
#include "models/cluster_means.h"

namespace eignn {

namespace {

std::string hash_of(const Graph& graph) {
  ContentHash hash;
  hash.add(graph.row_begin);
  hash.add_ids(graph.target);
  hash.add(graph.weight);
  return hash.hex();
}

Grouping grouping_of(const Graph& graph, const TrainConfig& c) {
  if (c.partition > 0) return partition_graph(graph, c.partition);
  constexpr double round_off = 1e-9;  // 0.07 · 100 is a little more than 7
  const auto most = std::ceil(c.coarsen * static_cast<double>(graph.nodes) - round_off);
  return heavy_edge_clusters(graph, std::max<int64_t>(1, static_cast<int64_t>(most)));
}

ReductionFacts facts_of(const GraphReduction& reduction, const Graph& graph) {
  const EdgeCount edges = count_edges(graph, reduction.group_of);
  std::vector<int64_t> size(static_cast<size_t>(reduction.groups), 0);
  for (const int64_t group : reduction.group_of) ++size[group];
  ReductionFacts facts;
  facts.kind = reduction.kind;
  facts.groups = reduction.groups;
  facts.least = *std::min_element(size.begin(), size.end());
  facts.most = *std::max_element(size.begin(), size.end());
  facts.edges = edges.edges;
  const bool parts = reduction.is_partition();
  facts.lost_edges = parts ? edges.edges - edges.within : edges.within;
  const double lost = parts ? edges.weight - edges.weight_within : edges.weight_within;
  facts.lost_weight = edges.weight > 0 ? std::max(0.0, lost / edges.weight) : 0;
  return facts;
}

std::shared_ptr<const GraphReduction> reduction_of(const Dataset& data, const TrainConfig& c) {
  auto out = std::make_shared<GraphReduction>();
  out->kind = c.partition > 0 ? ReductionKind::partition : ReductionKind::coarsening;
  out->graph = hash_of(data.graph);
  if (data.graphs() == 1) {
    Grouping all = grouping_of(data.graph, c);
    out->groups = all.groups;
    out->group_of = std::move(all.group_of);
  } else {
    out->group_of.resize(static_cast<size_t>(data.nodes()));
    for (const auto& nodes : data.members()) {
      const Grouping own = grouping_of(induced_graph(data.graph, nodes), c);
      for (size_t k = 0; k < nodes.size(); ++k) out->group_of[nodes[k]] = out->groups + own.group_of[k];
      out->groups += own.groups;
    }
  }
  return out;
}

// The label that most of these nodes have.
int64_t majority(const std::vector<int64_t>& labels) {
  std::map<int64_t, int64_t> count;
  for (const int64_t label : labels) ++count[label];
  return std::max_element(count.begin(), count.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

torch::Tensor merged_label(const Dataset& data, const std::vector<int64_t>& nodes) {
  const auto rows = data.labels.index_select(0, torch::tensor(nodes, torch::kInt64));
  if (data.is_regression()) return rows.mean(0);
  if (data.multi_label()) return (2 * rows.to(torch::kInt64).sum(0) > rows.size(0)).to(torch::kUInt8);
  const auto contiguous = rows.contiguous();
  return torch::tensor(
      majority({contiguous.data_ptr<int64_t>(), contiguous.data_ptr<int64_t>() + contiguous.numel()}),
      torch::kInt64);
}

std::string percent_of(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

}  // namespace

std::string in_words(const ReductionFacts& facts) {
  const std::string size = facts.least == facts.most ? std::to_string(facts.most)
                                                     : fmt::format("{} to {}", facts.least, facts.most);
  if (facts.kind == ReductionKind::partition)
    return fmt::format(
        "partition: {} parts of {} nodes; {} of {} edges join two parts and are dropped, {} of the weight",
        facts.groups, size, facts.lost_edges, facts.edges, percent_of(facts.lost_weight));
  return fmt::format("coarsen: {} clusters of {} nodes; {} of {} edges lie within one, {} of the weight",
                     facts.groups, size, facts.lost_edges, facts.edges, percent_of(facts.lost_weight));
}

bool GraphReduction::fits(const Graph& other) const {
  return static_cast<int64_t>(group_of.size()) == other.nodes && graph == hash_of(other);
}

Dataset reduced(Dataset data, const TrainConfig& config, const std::shared_ptr<const GraphReduction>& kept) {
  if (data.reduction) data.graph_of = data.reduction->graphs_before;
  data.reduction = nullptr;
  if ((config.partition == 0 && config.coarsen == 1) || data.nodes() == 0) return data;
  auto own =
      std::make_shared<GraphReduction>(kept && kept->fits(data.graph) ? *kept : *reduction_of(data, config));
  own->graphs_before = data.graph_of;
  own->facts = facts_of(*own, data.graph);
  if (own->is_partition()) data.graph_of = own->group_of;
  data.reduction = std::move(own);
  return data;
}

std::optional<ReductionFacts> reduction_facts(const Dataset& data) {
  return data.reduction ? std::optional<ReductionFacts>(data.reduction->facts) : std::nullopt;
}

torch::Tensor model_features(const Dataset& data) {
  if (!data.reduction || data.reduction->is_partition()) return data.features;
  const auto cluster_of = torch::tensor(data.reduction->group_of, torch::kInt64);
  return cluster_means(data.features, cluster_of, torch::bincount(cluster_of, {}, data.reduction->groups));
}

TrainingTargets training_targets(const Dataset& data, const torch::Tensor& train) {
  if (!data.reduction || data.reduction->is_partition()) return {train, data.labels};
  const auto index = train.to(torch::kCPU).contiguous();
  std::map<int64_t, std::vector<int64_t>> of_cluster;
  for (int64_t k = 0; k < index.numel(); ++k) {
    const int64_t v = index.data_ptr<int64_t>()[k];
    of_cluster[data.reduction->group_of[v]].push_back(v);
  }
  std::vector<int64_t> nodes;
  TrainingTargets out{{}, data.labels.clone()};
  for (const auto& [cluster, members] : of_cluster) {
    nodes.push_back(members[0]);
    out.labels[members[0]].copy_(merged_label(data, members));
  }
  out.nodes = torch::tensor(nodes, torch::kInt64);
  return out;
}

}  // namespace eignn
