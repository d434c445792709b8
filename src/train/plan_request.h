// The planner's request for a configuration; `train` and `inspect` share it, so that both choose the same
// solver.
#pragma once

#include <vector>

#include "eignn/dataset.h"
#include "eignn/model.h"
#include "eignn/options.h"
#include "eignn/planner.h"

namespace eignn {

/// S of each graph of the data set, by the configuration. A single graph has an empty list of nodes, which
/// stands for all.
std::vector<GraphMatrix> graph_matrices(const Dataset& dataset, const TrainConfig& config);

/// The request for the largest of these graphs, whose solver is used for all of them. `graphs` must outlive
/// it.
PlanRequest plan_request(const std::vector<GraphMatrix>& graphs, const Dataset& dataset,
                         const TrainConfig& config);

/// The request for one S without features or labels: it assumes `config.feature_dim` features and labels at
/// half of the nodes.
PlanRequest plan_request(const Propagation& S, const TrainConfig& config);

}  // namespace eignn
