#include "train/calibration.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>

#include "eignn/error.h"
#include "graph/random_stream.h"

namespace eignn {

namespace {

torch::Tensor doubles(const torch::Tensor& scores) {
  return scores.detach().to(torch::kCPU, torch::kFloat64);
}

}  // namespace

double fitted_temperature(const torch::Tensor& scores, const torch::Tensor& labels) {
  const auto f = doubles(scores);
  const auto truth = f.gather(1, labels.to(torch::kCPU).unsqueeze(1)).squeeze(1);
  // d/dβ of the loss of β f: the mean of E_p[f] - f_y, which ascends in β = 1/T.
  const auto slope = [&](double beta) {
    return ((f * beta).softmax(1).mul(f).sum(1) - truth).mean().item<double>();
  };
  double low = std::log(1e-3), high = std::log(1e3);
  constexpr int halvings = 60;
  for (int k = 0; k < halvings; ++k) {
    const double middle = (low + high) / 2;
    (slope(std::exp(middle)) < 0 ? low : high) = middle;
  }
  return std::exp(-(low + high) / 2);
}

double calibration_error(const torch::Tensor& scores, const torch::Tensor& labels, int64_t bins) {
  if (labels.numel() == 0) return 0;
  const auto [confidence, predicted] = doubles(scores).softmax(1).max(1);
  const auto right = predicted.eq(labels.to(torch::kCPU)).to(torch::kFloat64);
  const auto bin = (confidence * static_cast<double>(bins)).to(torch::kInt64).clamp(0, bins - 1);
  const auto gap = torch::zeros({bins}, torch::kFloat64).index_add(0, bin, confidence - right);
  return gap.abs().sum().item<double>() / static_cast<double>(labels.numel());
}

ConformalHalves conformal_halves(const torch::Tensor& validation, uint64_t seed) {
  const int64_t n = validation.numel();
  if (n < 2)
    throw ArgumentError("conformal",
                        fmt::format("half of the validation nodes is kept for the sets, and there is {}", n),
                        "label more nodes, or leave it out");
  const auto order =
      torch::randperm(n, at::detail::createCPUGenerator(stream_seed(seed, Stream::conformal)), torch::kInt64);
  return {validation.index_select(0, std::get<0>(order.narrow(0, 0, n - n / 2).sort())),
          validation.index_select(0, std::get<0>(order.narrow(0, n - n / 2, n / 2).sort()))};
}

double conformal_threshold(const torch::Tensor& of_nodes, double alpha) {
  const int64_t n = of_nodes.numel();
  // A round-off above a whole number must not ask for one node more.
  const auto rank = static_cast<int64_t>(std::ceil(static_cast<double>(n + 1) * (1 - alpha) - 1e-9));
  if (rank > n) return std::numeric_limits<double>::infinity();
  return std::get<0>(of_nodes.kthvalue(rank)).item<double>();
}

torch::Tensor nonconformity(const torch::Tensor& scores, const torch::Tensor& labels,
                            const TargetScale& targets) {
  const auto f = doubles(scores), y = labels.to(torch::kCPU);
  if (labels.is_floating_point()) return (f - targets.standardised(doubles(y))).abs().amax(1);
  return 1 - f.softmax(1).gather(1, y.unsqueeze(1)).squeeze(1);
}

ConformalResult conformal_result(double alpha, const torch::Tensor& calibration_scores,
                                 const torch::Tensor& calibration_labels, const torch::Tensor& test_scores,
                                 const torch::Tensor& test_labels, const TargetScale& targets) {
  ConformalResult out;
  out.alpha = alpha;
  out.calibration_nodes = calibration_labels.size(0);
  out.threshold = conformal_threshold(nonconformity(calibration_scores, calibration_labels, targets), alpha);
  if (test_labels.is_floating_point()) {
    const auto inside = nonconformity(test_scores, test_labels, targets).le(out.threshold);
    out.test_coverage = inside.to(torch::kFloat64).mean().item<double>();
    double width = 0;  // the mean over the targets
    for (const double scale : targets.scale) width += 2 * out.threshold * scale;
    out.mean_size = width / static_cast<double>(targets.scale.size());
    return out;
  }
  const auto sets = prediction_sets(test_scores, out.threshold).to(torch::kFloat64);
  out.test_coverage = sets.gather(1, test_labels.to(torch::kCPU).unsqueeze(1)).mean().item<double>();
  out.mean_size = sets.sum(1).mean().item<double>();
  return out;
}

torch::Tensor prediction_sets(const torch::Tensor& scores, double threshold) {
  const auto p = doubles(scores).softmax(1);
  return (1 - p).le(threshold).scatter(1, p.argmax(1, /*keepdim=*/true), true);
}

}  // namespace eignn
