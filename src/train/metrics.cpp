#include "train/metrics.h"

#include <torch/torch.h>

#include <algorithm>

namespace eignn {

torch::Tensor loss_of(const torch::Tensor& scores, const torch::Tensor& labels) {
  return labels.dim() == 2 ? torch::binary_cross_entropy_with_logits(scores, labels.to(scores.scalar_type()))
                           : torch::cross_entropy_loss(scores, labels);
}

double score_of(const torch::Tensor& scores, const torch::Tensor& labels) {
  return labels.dim() == 2 ? micro_f1(scores, labels) : accuracy(scores, labels);
}

const char* metric_name(const torch::Tensor& labels) {
  return labels.dim() == 2 ? "micro_f1" : "accuracy";
}

torch::Tensor scores_of(Model& model, const torch::Tensor& nodes) {
  const torch::NoGradGuard guard;
  model.eval();
  return model.scores(nodes);
}

Evaluation evaluate(Model& model, const torch::Tensor& labels, const torch::Tensor& nodes) {
  const auto f = scores_of(model, nodes), y = labels.index_select(0, nodes);
  return {loss_of(f, y).item<double>(), score_of(f, y)};
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

double micro_f1(const torch::Tensor& scores, const torch::Tensor& labels) {
  const auto yes = scores > 0, truth = labels > 0;
  const auto hits = yes.logical_and(truth).sum().item<int64_t>();
  const auto both = (yes.sum() + truth.sum()).item<int64_t>();  // 2 TP + FP + FN
  return both > 0 ? 2 * static_cast<double>(hits) / static_cast<double>(both) : 1;
}

double accuracy(const torch::Tensor& scores, const torch::Tensor& labels) {
  if (labels.numel() == 0) return 0;
  return static_cast<double>(scores.argmax(1).eq(labels).sum().item<int64_t>()) /
         static_cast<double>(labels.numel());
}

std::vector<DistanceScore> accuracy_by_distance(const torch::Tensor& scores, const torch::Tensor& labels,
                                                const torch::Tensor& nodes,
                                                const std::vector<int64_t>& distance, int64_t bands) {
  const auto right = scores.argmax(1).eq(labels).to(torch::kCPU);
  const auto node = nodes.to(torch::kCPU);
  const int64_t farthest = *std::max_element(distance.begin(), distance.end());
  const int64_t width = farthest / bands + 1;
  std::vector<DistanceScore> out;
  for (int64_t from = 0; from <= farthest; from += width)
    out.push_back({from, std::min(from + width - 1, farthest), 0, 0});
  for (int64_t k = 0; k < node.size(0); ++k) {
    DistanceScore& band = out[distance[node[k].item<int64_t>()] / width];
    ++band.nodes;
    band.accuracy += right[k].item<bool>();
  }
  for (DistanceScore& band : out)
    if (band.nodes > 0) band.accuracy /= static_cast<double>(band.nodes);
  return out;
}

}  // namespace eignn
