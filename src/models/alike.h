// Components of a graph that are equal, including their features.
#pragma once

#include <torch/types.h>

#include <vector>

#include "eignn/propagation.h"

namespace eignn {

struct Representatives {
  std::vector<int64_t> nodes;  // of one component of each kind, ascending
  std::vector<int64_t> like;   // for each node of the graph: the index in `nodes` of its counterpart
};

Representatives representatives(const Propagation& S, const torch::Tensor& X);

}  // namespace eignn
