// Fill-reducing orderings for the direct solver.
#pragma once

#include <cstdint>
#include <vector>

#include "eignn/graph.h"

namespace eignn {

/// An elimination order with little fill-in for a symmetric pattern: SuiteSparse's AMD, or our exact minimum
/// degree where the build has no SuiteSparse. On a forest both eliminate leaves first, without fill-in.
std::vector<int64_t> fill_reducing_order(const Graph& symmetric);

/// The plain minimum-degree order; ties go to the smallest node. Exposed for tests.
std::vector<int64_t> minimum_degree_order(const Graph& symmetric);

}  // namespace eignn
