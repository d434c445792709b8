// What the settings `partition` and `coarsen` make of the graph of a data set.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "eignn/dataset.h"
#include "eignn/options.h"
#include "eignn/train.h"

namespace eignn {

/// Parts or clusters of the nodes of a graph. The data set keeps its graph, its nodes and its labels: models
/// are made on the parts (graph_matrices), or on the clusters, whose features are the means over their nodes.
struct GraphReduction {
  ReductionKind kind = ReductionKind::partition;
  int64_t groups = 0;
  std::vector<int64_t> group_of;       // of each node
  std::vector<int64_t> graphs_before;  // Dataset::graph_of without the reduction
  std::string graph;                   // a hash of the graph that it was made of
  ReductionFacts facts;

  bool is_partition() const { return kind == ReductionKind::partition; }
  /// Whether it was made of this graph: the same arcs between the same numbers, with the same weights.
  bool fits(const Graph& other) const;
};

/// The data set with its graph reduced as the configuration says, each of several graphs by itself; as it is
/// where that asks for nothing. What is there already is replaced. `kept`, where it fits, is taken in the
/// place of a new one. ArgumentError{"partition"} where a graph has fewer nodes than it is to have parts.
Dataset reduced(Dataset data, const TrainConfig& config,
                const std::shared_ptr<const GraphReduction>& kept = nullptr);

/// What the reduction left out, where there is one.
std::optional<ReductionFacts> reduction_facts(const Dataset& data);

/// The rows of X that the model's graphs have: those of the nodes, or the means over clusters.
torch::Tensor model_features(const Dataset& data);

/// What a training step reads: the training nodes and their labels; with clusters one training node of each
/// that has any, with the label that most of its training nodes have (of equally many the lowest; sets of
/// labels: each label by itself; numbers: the mean). No label of another node is looked at.
struct TrainingTargets {
  torch::Tensor nodes;   // int64
  torch::Tensor labels;  // of all nodes, as Dataset::labels; right at `nodes`
};
TrainingTargets training_targets(const Dataset& data, const torch::Tensor& train);

}  // namespace eignn
