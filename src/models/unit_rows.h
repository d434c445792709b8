#pragma once

#include <torch/torch.h>

namespace eignn {

/// z/‖z‖ for each row, divided by its largest entry first so that squares cannot underflow; ‖z‖ has no lower
/// bound. A row of zeros (a node that no signal reaches) stays zero, and a row with no entry above `smallest`
/// becomes zero.
inline torch::Tensor unit_rows(const torch::Tensor& z, double smallest = 0) {
  const auto top = z.detach().abs().amax(1, true);
  const auto near_one = torch::where(
      top > smallest, z / torch::where(top > smallest, top, torch::ones_like(top)), torch::zeros_like(z));
  const auto norm = near_one.norm(2, 1, true);
  return near_one / torch::where(norm > 0, norm, torch::ones_like(norm));
}

}  // namespace eignn
