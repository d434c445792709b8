// T_p(S) X at the requested nodes: for a fixed X, a training epoch needs nothing else of the graph.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "equilibrium/kernel_arguments.h"
#include "equilibrium/memory_budget.h"
#include "equilibrium/node_operator.h"
#include "equilibrium/node_set_cache.h"

namespace eignn {

/// Of one symmetric S and one X. Without a limit on the memory the recurrence is kept for all columns of X,
/// so that further terms cost one product each. With a limit it runs again from the start for each set of
/// nodes, a block of columns at a time, as wide as the limit allows. Caches the last few sets of nodes. The
/// results do not depend on what is cached, so that a resumed run has the same results as one that was not
/// interrupted.
class PropagatedFeatures {
 public:
  PropagatedFeatures(std::shared_ptr<const NodeOperator> S, torch::Tensor X, MemoryBudget budget = {});

  /// ‖X‖
  double norm() const { return norm_; }

  /// T_0 X, T_1 X, … at these nodes, (nodes, m) each: at least `terms` of them. Valid until the next call.
  const std::vector<torch::Tensor>& at(const torch::Tensor& index, int64_t terms);

  /// What the blocks took: how many there were, and the bytes of the largest.
  struct Blocks {
    int64_t count = 0, largest_bytes = 0;
  };
  const Blocks& blocks() const { return blocks_; }

  /// Whether so many terms at so many nodes may be kept: the limit for a set is the size of the four n×m
  /// matrices that an iteration works on, or 1 GiB if that is more. All sets together take at most about
  /// three times that.
  bool affordable(int64_t nodes, int64_t terms) const;

  /// Releases all memory.
  void forget();

 private:
  /// The recurrence for T_p(S) X at all nodes, for some columns of X.
  struct Sweep {
    int64_t from, columns;    // of X; `now` and `last` are padded to whole cache lines
    torch::Tensor now, last;  // T_p X, T_p-1 X
    int64_t term = 0;         // p

    Sweep(const torch::Tensor& X, int64_t first_column, int64_t most_lines_of_columns = most_lines);
    void advance(const NodeOperator& S);
    void write(const torch::Tensor& index, torch::Tensor& rows) const;
  };
  /// T_0 X, T_1 X, … at some nodes.
  using Terms = std::vector<torch::Tensor>;
  Terms& terms_at(const torch::Tensor& index);
  void replay(const torch::Tensor& index, int64_t count, int64_t lines, Terms& terms);
  int64_t lines_at_once(int64_t nodes, int64_t terms) const;
  const Terms& within_budget(const torch::Tensor& index, int64_t count, Terms& terms);
  void advance_with(const Terms& asked);
  void append_current_term(const torch::Tensor& index, Terms& terms) const;
  torch::Tensor space_for(const torch::Tensor& index) const;
  double bytes() const;
  double most_bytes() const;

  std::shared_ptr<const NodeOperator> S_;
  torch::Tensor X_;
  double norm_;
  MemoryBudget budget_;
  Blocks blocks_;
  std::vector<Sweep> sweeps_;  // for all columns, all at the same term; empty: not begun
  NodeSetCache<Terms> sets_{8};
};

}  // namespace eignn
