// How the time of a training epoch grows with nodes, features, edges and components.
#pragma once

#include <string>
#include <vector>

#include "eignn/train.h"

namespace eignn {

/// One graph, its features and the solver that trains on them.
struct ScalingPoint {
  std::string axis;            // nodes, features, density, components, wide or identity: what varies
  std::string graph = "rmat";  // or chains
  int64_t nodes = 0;
  int64_t features = 64;
  int64_t edges_per_node = 10;  // rmat
  int64_t components = 1;       // chains of equal length
  std::string solver = "sparse";
  int64_t entries = 0;  // of the features of a node; 0: none of them is zero
  int64_t rank = -1;    // of F; -1: as many rows as features

  /// Its value on the axis.
  int64_t position() const;
};

/// The points of one axis, or of all, with at most so many nodes, for these solvers: the closed forms and
/// `picard` only where one can wait for them.
std::vector<ScalingPoint> scaling_points(const std::string& axis, int64_t up_to,
                                         const std::vector<std::string>& solvers);

struct ScalingMeasurement {
  int64_t edges = 0;
  double epoch_s = 0;        // median: forward, backward, Adam; no evaluation
  int64_t epochs = 0;        // timed, after one for warm-up
  double preprocess_s = 0;   // from the data set to the first step: makes S and the solver
  double first_epoch_s = 0;  // includes what is computed once for all epochs
  int64_t start_memory_bytes = 0, peak_memory_bytes = 0;  // before the graph, and after the last epoch
  int64_t iterations = 0;                                 // of a solve with the trained weights
  double residual = 0, residual_bound = 0;                // of that solve; the bound of sparse and picard
  double labelled_difference = 0;  // relative, between project() and Z C at the training nodes
};

/// Trains with random features and labels, f = B Z and 5 % of the nodes to train on. The peak memory is that
/// of this process, so that each measurement needs a process of its own. The residual of sparse features,
/// whose Z would not fit into memory, is that of Z C for eight random columns C. `config` gives threads,
/// dtype and seed.
ScalingMeasurement measure_scaling(const ScalingPoint& point, TrainConfig config);

/// The slope of log y over log x by least squares; NaN for fewer than two different x.
double fitted_exponent(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace eignn
