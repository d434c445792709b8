// Rows of features by their content: equal components with equal features have equal equilibria.
#pragma once

#include <torch/types.h>

#include <string>
#include <vector>

#include "graph/content_hash.h"

namespace eignn {

/// Equal for equal rows of X, a contiguous matrix on the CPU, at these nodes.
inline std::string fingerprint(const torch::Tensor& X, const std::vector<int64_t>& nodes) {
  const size_t row = static_cast<size_t>(X.size(1)) * X.element_size();
  const auto* bytes = static_cast<const unsigned char*>(X.data_ptr());
  ContentHash hash;
  for (int64_t v : nodes) hash.add(bytes + static_cast<size_t>(v) * row, row);
  return hash.hex();
}

}  // namespace eignn
