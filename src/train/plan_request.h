// The problem that a configuration poses to the planner: one function for `train` and `inspect`, so that both
// plan the same.
#pragma once

#include <vector>

#include "eignn/dataset.h"
#include "eignn/model.h"
#include "eignn/options.h"
#include "eignn/planner.h"

namespace eignn {

/// S of each graph of the data set, as the configuration makes it; one entry without node numbers where there
/// is one graph.
std::vector<GraphMatrix> graph_matrices(const Dataset& dataset, const TrainConfig& config);

/// The problem on the largest of these graphs; its solver serves all of them. `graphs` must outlive it.
PlanRequest plan_request(const std::vector<GraphMatrix>& graphs, const Dataset& dataset,
                         const TrainConfig& config);

/// The same for one S without features or labels, of a bare graph: `config.feature_dim` features, half of the
/// nodes labelled.
PlanRequest plan_request(const Propagation& S, const TrainConfig& config);

}  // namespace eignn
