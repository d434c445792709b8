// How a training epoch grows with the graph: its nodes, features, edges and components.
#pragma once

#include <string>
#include <vector>

#include "eignn/train.h"

namespace eignn {

/// One graph, its features and the solver that trains on them.
struct ScalingPoint {
  std::string axis;            // nodes, features, density or components: what the point's series varies
  std::string graph = "rmat";  // or chains
  int64_t nodes = 0;
  int64_t features = 64;
  int64_t edges_per_node = 10;  // rmat
  int64_t components = 1;       // chains of equal length
  std::string solver = "sparse";

  /// Where it lies on its axis.
  int64_t position() const;
};

const std::vector<std::string>& scaling_axes();

const std::vector<std::string>& scaling_solvers();

/// The points of one axis, or of all, with at most so many nodes, for these solvers: the closed forms and
/// `picard` only where one can wait for them.
std::vector<ScalingPoint> scaling_points(const std::string& axis, int64_t up_to,
                                         const std::vector<std::string>& solvers);

struct ScalingMeasurement {
  int64_t edges = 0;
  double epoch_s = 0;        // median: forward, backward, Adam; no evaluation
  int64_t epochs = 0;        // timed, after one to warm up
  double preprocess_s = 0;   // from the data set to the first step, S and the solver made
  double first_epoch_s = 0;  // with what is computed once for all epochs
  int64_t start_memory_bytes = 0, peak_memory_bytes = 0;  // before the graph, and after the last epoch
  int64_t iterations = 0;                                 // of the solve at the weights trained so far
  double residual = 0, residual_bound = 0;  // of that solve, in float64; what sparse and picard promise
  double labelled_difference = 0;           // of f at the training nodes, as an epoch has it, from that Z's
};

/// Random features and labels, f = B Z, 5 % of the nodes to train on. The peak is that of this process: one
/// measurement each. `config` gives threads, dtype and seed.
ScalingMeasurement measure_scaling(const ScalingPoint& point, TrainConfig config);

/// The slope of log y over log x by least squares; NaN for fewer than two different x.
double fitted_exponent(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace eignn
