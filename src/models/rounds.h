// What rounds along the graph have to compute so that some nodes know their last state: with few labels, and
// fewer rounds than the graph is wide, that is a part of it.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "models/propagate.h"

namespace eignn {

/// One of them: its receivers hear the receivers of the round before, at first all nodes.
struct Round {
  SharedProduct S;
  SharedProduct stay;  // takes the receivers' rows out of those of the round before; null: they are the same
  torch::Tensor rows;  // where the nodes that were asked for are among the receivers
};

class Rounds {
 public:
  Rounds(std::shared_ptr<const Propagation> S, const torch::TensorOptions& type);

  /// `count` rounds that end at `rows`, found anew unless one of the last calls was for them. Where more than
  /// a quarter of the nodes are asked for, or most are needed, a round has all nodes.
  const std::vector<Round>& to(const torch::Tensor& rows, int64_t count);

 private:
  struct Known {
    torch::Tensor rows;  // a copy
    std::vector<Round> rounds;
  };
  std::vector<Round> find(const torch::Tensor& rows, int64_t count) const;
  SharedProduct part(const std::vector<int64_t>& from, const std::vector<int64_t>& to, bool stay) const;

  std::shared_ptr<const Propagation> S_;
  torch::TensorOptions type_;
  SharedProduct whole_;
  std::deque<Known> known_;  // of the last calls
};

/// Each graph's own.
std::vector<Rounds> make_rounds(const std::vector<GraphMatrix>& graphs, const torch::TensorOptions& type);

}  // namespace eignn
