// Components of a graph that are equal, features and all.
#pragma once

#include <torch/types.h>

#include <vector>

#include "eignn/propagation.h"

namespace eignn {

struct AlikeNodes {
  std::vector<int64_t> nodes;  // of one component of each kind, ascending
  std::vector<int64_t> like;   // of each node of the graph: the place in `nodes` of the one like it
};

AlikeNodes alike_nodes(const Propagation& S, const torch::Tensor& X);

}  // namespace eignn
