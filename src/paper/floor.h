// A lower bound on the time of an epoch of EIGNN: the operations and the memory traffic that none of our
// algorithms avoids, at the measured rates of a machine. It bounds our algorithms, not all possible ones;
// docs/performance.md has the count as a table.
#pragma once

#include <torch/types.h>

#include <string>
#include <vector>

#include "eignn/train.h"

namespace eignn {

/// A connected component of S. Those with equal matrices and equal features have equal equilibria and count
/// once.
struct ComponentShape {
  int64_t nodes = 0, entries = 0;  // of S
  int64_t train = 0, val = 0;      // nodes at which the loss and the evaluation read Z
  int64_t feature_entries = 0;     // non-zero entries of X
};

/// The sizes that determine the work of an epoch, for one F and no encoder.
struct EpochShape {
  int64_t features = 0, classes = 0;
  int64_t rank = 0;             // rows of a thin F; 0: as many as features
  int64_t optimiser_steps = 1;  // per epoch; more than one with batches of graphs
  int64_t bytes_per_number = 4;
  /// The solver works in the eigenbasis of S, and Z is formed only at the rows that are read. Otherwise it
  /// works with the entries of S, by elimination or by products with S.
  bool eigenbasis = true;
  bool node_space = false;    // Z is solved for in node space
  bool skips_zeros = false;   // the first product with g skips the zeros of X
  bool reads_all = false;     // batch norm: a training step needs every component
  bool scores_alone = false;  // f = B Z is computed from the rows of B, without Z
  std::vector<ComponentShape> components;
};

EpochShape epoch_shape(const TrainConfig& config, const Dataset& dataset, const std::string& solver);

struct Work {
  std::string what;
  double flops = 0, bytes = 0;
};

/// The work of a training step: forward, backward, Adam.
std::vector<Work> step_work(const EpochShape& shape);
/// The work that the evaluation on the validation nodes adds to a training step, whose solve it shares.
std::vector<Work> evaluation_work(const EpochShape& shape);
/// The sum of all parts.
Work total(const std::vector<Work>& parts);

struct MachineRates {
  double flops_per_s = 0;  // of a product of square matrices
  double bytes_per_s = 0;  // of a + 3b → c, three streams
};

/// The best of several measurements: products of size×size matrices, and streams over `bytes` in total, so
/// that a working set that fits into a cache is measured there.
MachineRates measure_rates(torch::Dtype dtype, torch::Device device, int64_t size, double bytes);

/// The time of the parts one after the other; each takes the longer of its arithmetic and its memory traffic.
double floor_seconds(const std::vector<Work>& parts, const MachineRates& rates);

}  // namespace eignn
