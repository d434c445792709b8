#pragma once

#include <vector>

#include "eignn/propagation.h"

namespace eignn {

/// The entries of Â in the order of the columns, stored or not.
inline std::vector<double> weights_of(const Propagation& S) {
  std::vector<double> out;
  for (int64_t i = 0; i < S.nodes; ++i)
    for (int64_t e = S.row_begin[i]; e < S.row_begin[i + 1]; ++e) out.push_back(S.weight_of(i, e));
  return out;
}

}  // namespace eignn
