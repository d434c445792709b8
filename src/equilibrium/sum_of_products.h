// Sums over nodes that round alike, however many nodes there are and however they are spread over processes.
#pragma once

#include <torch/torch.h>

#include <algorithm>
#include <cstdint>

namespace eignn {

/// Aᵀ B for matrices with a row for each node. On the CPU float32 products of some thousand rows each are
/// added up in float64, which costs next to nothing: added up in float32 they would lose a digit for each
/// hundred times more nodes.
inline torch::Tensor sum_of_products(const torch::Tensor& A, const torch::Tensor& B) {
  constexpr int64_t together = 4096;
  const int64_t rows = A.size(0);
  if (rows <= together || !A.is_cpu() || A.scalar_type() == torch::kFloat64) return A.t().mm(B);
  auto sum = torch::zeros({A.size(1), B.size(1)}, torch::kFloat64);
  for (int64_t first = 0; first < rows; first += together) {
    const int64_t count = std::min(together, rows - first);
    sum += A.narrow(0, first, count).t().mm(B.narrow(0, first, count));
  }
  return sum.to(A.scalar_type());
}

}  // namespace eignn
