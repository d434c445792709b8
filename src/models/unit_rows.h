#pragma once

#include <torch/torch.h>

namespace eignn {

/// z/‖z‖ by rows, brought near 1 first so that squares cannot underflow; no floor. A row of zeros (a node
/// that no signal can reach) stays zero.
inline torch::Tensor unit_rows(const torch::Tensor& z) {
  const auto or_one = [](const torch::Tensor& t) { return torch::where(t > 0, t, torch::ones_like(t)); };
  const auto near_one = z / or_one(z.detach().abs().amax(1, true));
  return near_one / or_one(near_one.norm(2, 1, true));
}

}  // namespace eignn
