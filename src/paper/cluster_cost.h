// What training on several processes costs: its parts, measured on the processes at hand, and a model that
// adds them up for any graph and any number of processes.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "cluster/distributed_operator.h"
#include "cluster/ranks.h"

namespace eignn {

/// Times in seconds, each that of the slowest process while all of them work.
struct ClusterParts {
  double entry = 0;         // of a product: an entry of S, for one column
  double row = 0;           // and an own row, for one column: copied, and read and written by the recurrence
  double fetch = 0;         // a fetch of any size
  double fetched_byte = 0;  // and each byte that a process receives
  double sum = 0;           // a sum over the processes of a few numbers
  double summed_byte = 0;
  double multiply_add = 0;  // of the dense products with rows of features
  double step = 0;          // a training step with one labelled node: all of m×m, and the sums
};

/// Measures in so many features and classes; collective.
ClusterParts measure_parts(const Ranks& ranks, int64_t features, int64_t classes, torch::Dtype dtype,
                           uint64_t seed);

struct ClusterProblem {
  double nodes = 0, entries = 0;  // of S: an undirected edge counts twice, each node once
  double features = 0, classes = 0;
  double trained = 0, validated = 0;  // nodes
  double terms = 14;                  // of the series: T_0 X … T_13 X; float32 at the start of a training
  double bytes_of_number = 4;
  double halo = -1;  // rows that the process with most fetches; negative: as many as it could need
};

struct ClusterEstimate {
  double preparation = 0;    // T_p(S) X at the nodes that are trained on and validated, seconds
  double epoch = 0;          // a step and the evaluation, seconds
  double bytes = 0;          // of the process with most, beside the program's own
  double fetched_bytes = 0;  // in the preparation, by one process
};
ClusterEstimate estimate(const ClusterParts& parts, const ClusterProblem& problem, Grid grid);

/// The same, measured: an R-MAT graph with random features, `edges` undirected edges and 5 % of the nodes to
/// train on, 5 % to validate. `problem` receives what estimate() takes, the true halo with it. Collective.
struct ClusterMeasurement {
  double preparation = 0, epoch = 0;
  double bytes = 0;  // by which the resident memory of the process with most has grown
};
ClusterMeasurement measure_cluster(const Ranks& ranks, Grid grid, int64_t nodes, int64_t edges,
                                   int64_t features, int64_t classes, torch::Dtype dtype, uint64_t seed,
                                   ClusterProblem& problem);

}  // namespace eignn
