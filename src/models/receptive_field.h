// Receptive-field pruning: the rows that each layer must compute for the requested outputs. With few labelled
// nodes and few layers that is a part of the graph.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "models/propagate.h"

namespace eignn {

/// One layer's propagation: its receivers take from the receivers of the round before, in the first round
/// from all nodes.
struct Round {
  SharedProduct S;
  SharedProduct stay;  // selects the receivers' rows among those of the round before; null: they are the same
  torch::Tensor rows;  // where the requested nodes are among the receivers
};

class ReceptiveField {
 public:
  ReceptiveField(std::shared_ptr<const Propagation> S, const torch::TensorOptions& type);

  /// `count` rounds that end at `rows`; those of the last few calls are cached. Where more than a quarter of
  /// the nodes are requested, or most are needed, a round has all nodes.
  const std::vector<Round>& rounds_to(const torch::Tensor& rows, int64_t count);

 private:
  struct Cached {
    torch::Tensor rows;  // a copy
    std::vector<Round> rounds;
  };
  std::vector<Round> find(const torch::Tensor& rows, int64_t count) const;
  SharedProduct part(const std::vector<int64_t>& from, const std::vector<int64_t>& to, bool stay) const;

  std::shared_ptr<const Propagation> S_;
  torch::TensorOptions type_;
  SharedProduct whole_;
  std::deque<Cached> cache_;  // of the last calls
};

/// One for each graph.
std::vector<ReceptiveField> receptive_fields(const std::vector<GraphMatrix>& graphs,
                                             const torch::TensorOptions& type);

}  // namespace eignn
