// The graph of a run as a report draws it: nodes with truth and prediction, edges, and the spectrum of S.
#pragma once

#include <string>

#include "eignn/dataset.h"
#include "report/collected.h"

namespace eignn {

struct GraphViewOptions {
  std::string node;                   // in the middle of a neighbourhood; empty: the one of most edges
  int64_t whole = 5000;               // a graph of at most so many nodes is shown whole
  int64_t neighbourhood = 1500;       // of a larger one so many nodes nearest to the node
  int64_t largest_decomposed = 1500;  // the spectrum of S is computed where no component is larger
};

/// The graph of a run's data set with the predictions of its folder, as the page draws it (web/src/data.ts).
/// DataError where predictions.csv is not one of these data.
ResultJson graph_view(const CollectedRun& run, const Dataset& raw, const GraphViewOptions& options);

/// The `count` nodes nearest to `node` along arcs in both directions, the node itself first, ties by number.
std::vector<int64_t> nearest_nodes(const Graph& undirected, int64_t node, int64_t count);

}  // namespace eignn
