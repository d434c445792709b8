// The floor: the operations and the bytes that we know no way to avoid in an epoch of EIGNN, and the time
// they take at the rates that a machine was measured to have. A bound on our own ideas, not on all possible
// ones; docs/performance.md has the count as a table.
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
  int64_t train = 0, val = 0;      // nodes where the loss and the evaluation read Z
  int64_t feature_entries = 0;     // of X, those that are not zero
};

/// What the work of an epoch depends on. One F, no encoder.
struct EpochShape {
  int64_t features = 0, classes = 0;
  int64_t optimiser_steps = 1;  // an epoch; more where graphs come in batches
  int64_t bytes_per_number = 4;
  /// Z leaves the eigenbasis of S at the rows that are read; else it comes by elimination, or by products
  /// with S, from the entries of S.
  bool eigenbasis = true;
  bool node_space = false;    // Z is solved for at the nodes themselves
  bool skips_zeros = false;   // the first product with g does so with those of X
  bool reads_all = false;     // batch norm: every component takes part in a training step
  bool scores_alone = false;  // f = B Z from the rows of B: Z is never solved for
  std::vector<ComponentShape> components;
};

EpochShape epoch_shape(const TrainConfig& config, const Dataset& dataset, const std::string& solver);

struct Work {
  std::string what;
  double flops = 0, bytes = 0;
};

/// Forward, backward, Adam.
std::vector<Work> step_work(const EpochShape& shape);
/// What the evaluation on the validation nodes adds to the step whose solve it shares.
std::vector<Work> evaluation_work(const EpochShape& shape);
/// All of it in one.
Work total(const std::vector<Work>& parts);

struct MachineRates {
  double flops_per_s = 0;  // of a product of square matrices
  double bytes_per_s = 0;  // of a + 3b → c, three streams
};

/// The best of a few: products of size×size matrices, and streams over `bytes` in all, so that what fits into
/// a cache is measured there.
MachineRates measure_rates(torch::Dtype dtype, torch::Device device, int64_t size, double bytes);

/// The parts come one after the other, and each takes the longer of its arithmetic and its traffic.
double floor_seconds(const std::vector<Work>& parts, const MachineRates& rates);

}  // namespace eignn
