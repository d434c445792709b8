// T_p(S) X at the requested nodes: for a fixed X, a training epoch needs nothing else of the graph.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "eignn/solver.h"
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
  PropagatedFeatures(std::shared_ptr<const NodeOperator> S, torch::Tensor X, MemoryBudget budget = {},
                     std::shared_ptr<TermsStore> store = nullptr);

  /// ‖X‖
  double norm() const { return norm_; }

  /// T_0 X, T_1 X, … at these nodes, (nodes, m) each: at least `terms` of them. Valid until the next call.
  const std::vector<torch::Tensor>& at(const torch::Tensor& index, int64_t terms);

  /// What the blocks took: how many there were, and the bytes of the largest.
  struct Blocks {
    int64_t count = 0, largest_bytes = 0;
  };
  const Blocks& blocks() const { return blocks_; }

  /// Whether so many terms at so many nodes, of all processes, may be kept: the limit for a set is the size
  /// of the four n×m matrices that an iteration works on, or 1 GiB if that is more. All sets together take at
  /// most about three times that.
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
  struct NodeSet {
    std::vector<torch::Tensor> terms;
    int64_t nodes;             // of all processes
    std::string key;           // under which the terms are kept; empty: they are not
    size_t kept;               // how many of them are
    ColumnShares::Rows place;  // of `share_`
  };
  NodeSet& set_at(const torch::Tensor& index);
  void make_terms(int64_t count, NodeSet& set);
  std::string key_of(const torch::Tensor& index);
  void take_kept(NodeSet& set) const;
  void replay(int64_t count, int64_t lines, NodeSet& set);
  int64_t lines_at_once(int64_t nodes, int64_t terms) const;
  void within_budget(int64_t count, NodeSet& set);
  void advance_with(const NodeSet& asked);
  void append_current_term(NodeSet& set) const;
  torch::Tensor space_for(const NodeSet& set) const;
  torch::Tensor all_columns(const torch::Tensor& rows, const NodeSet& set) const;
  double bytes() const;
  double bytes_of_row() const;
  double most_bytes() const;

  std::shared_ptr<const NodeOperator> S_;
  torch::Tensor X_;
  double norm_;
  std::shared_ptr<const NodeOperator> of_share_;  // the S that the products of this process are with
  torch::Tensor share_;                           // and the X: all of it, or this process's columns
  MemoryBudget budget_;
  std::shared_ptr<TermsStore> store_;
  std::string content_;  // a hash of S and the share, once it is asked for
  double seconds_ = 0;   // that making terms took
  Blocks blocks_;
  std::vector<Sweep> sweeps_;  // for all columns of the share, all at the same term; empty: not begun
  NodeSetCache<NodeSet> sets_{8};
};

}  // namespace eignn
