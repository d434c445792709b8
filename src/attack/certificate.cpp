#include "attack/certificate.h"

#include <torch/torch.h>

#include <limits>

namespace eignn {

torch::Tensor margins_of(const torch::Tensor& scores, const torch::Tensor& labels) {
  const auto y = labels.unsqueeze(1);
  return (scores.gather(1, y) - scores).scatter(1, y, std::numeric_limits<double>::infinity());
}

torch::Tensor Certificate::lower_bound(double epsilon) const {
  return (margins - epsilon * slopes).amin(1);
}

torch::Tensor Certificate::radius() const {
  // A class whose margin does not depend on the features (s_k = 0) sets no limit where its margin is
  // positive.
  const auto forever = torch::full_like(margins, std::numeric_limits<double>::infinity());
  const auto limit = torch::where((slopes == 0).logical_and(margins > 0), forever, margins / slopes);
  return torch::where((margins > 0).all(1), limit.amin(1), torch::zeros_like(limit.select(1, 0)));
}

Certificate certificate(const Jacobians& jacobians, const torch::Tensor& labels, bool of_all_rows) {
  Certificate out;
  out.margins = margins_of(jacobians.scores, labels);
  if (of_all_rows) {
    out.slopes = jacobians.slopes_of_all;
  } else {
    const auto& J = jacobians.own;
    const auto y = labels.view({-1, 1, 1}).expand({-1, J.size(1), 1});
    out.slopes = (J.gather(2, y) - J).abs().sum(1);
  }
  return out;
}

}  // namespace eignn
