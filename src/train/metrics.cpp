#include "train/metrics.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "eignn/error.h"
#include "train/ranking.h"

namespace eignn {

namespace {

constexpr int64_t most_confused_classes = 50;

bool are_sets(const torch::Tensor& labels) {
  return labels.scalar_type() == torch::kUInt8;
}

bool are_numbers(const torch::Tensor& labels) {
  return labels.is_floating_point();
}

// The mean of those that are defined; empty where none is.
class Mean {
 public:
  void add(const std::optional<double>& value) {
    if (!value) return;
    sum_ += *value;
    ++count_;
  }
  std::optional<double> value() const {
    return count_ > 0 ? std::optional<double>(sum_ / count_) : std::nullopt;
  }

 private:
  double sum_ = 0;
  int64_t count_ = 0;
};

// (truth, predicted), in nodes.
torch::Tensor confusion_of(const torch::Tensor& predicted, const torch::Tensor& labels, int64_t classes) {
  return torch::bincount(labels * classes + predicted, {}, classes * classes)
      .view({classes, classes})
      .to(torch::kCPU);
}

// By its true positives, the nodes that have the class, and those that are given it.
std::optional<double> f1(double hits, double have, double given) {
  return have + given > 0 ? std::optional<double>(2 * hits / (have + given)) : std::nullopt;
}

void score_classes(const torch::Tensor& scores, const torch::Tensor& labels, PartScores& out) {
  const int64_t classes = scores.size(1);
  const auto predicted = scores.argmax(1);
  out.accuracy = accuracy(scores, labels);
  out.micro_f1 = out.accuracy;  // each error is one FP and one FN
  const auto y = labels.to(torch::kCPU), p = predicted.to(torch::kCPU);
  const auto have = torch::bincount(y, {}, classes), given = torch::bincount(p, {}, classes),
             hits = torch::bincount(y.masked_select(y == p), {}, classes);
  Mean recall, mean_f1;
  for (int64_t c = 0; c < classes; ++c) {
    const auto n = have[c].item<double>(), g = given[c].item<double>(), h = hits[c].item<double>();
    if (n > 0) recall.add(h / n);
    mean_f1.add(f1(h, n, g));
  }
  out.balanced_accuracy = recall.value();
  out.macro_f1 = mean_f1.value();
  if (classes == 2) {
    const auto difference = scores.select(1, 1) - scores.select(1, 0);
    out.roc_auc = roc_auc(difference, labels == 1);
    out.average_precision = average_precision(difference, labels == 1);
  } else {
    const auto probability = scores.to(torch::kFloat64).softmax(1);
    Mean auc, precision;
    for (int64_t c = 0; c < classes; ++c) {
      auc.add(roc_auc(probability.select(1, c), labels == c));
      precision.add(average_precision(probability.select(1, c), labels == c));
    }
    out.roc_auc = auc.value();
    out.average_precision = precision.value();
  }
  if (classes > most_confused_classes) return;
  const auto counts = confusion_of(p, y, classes);
  for (int64_t t = 0; t < classes; ++t) {
    out.confusion.emplace_back();
    for (int64_t c = 0; c < classes; ++c) out.confusion.back().push_back(counts[t][c].item<int64_t>());
  }
}

void score_sets(const torch::Tensor& scores, const torch::Tensor& labels, PartScores& out) {
  out.micro_f1 = micro_f1(scores, labels);
  Mean auc, precision, mean_f1;
  for (int64_t c = 0; c < scores.size(1); ++c) {
    const auto s = scores.select(1, c), y = labels.select(1, c);
    const auto yes = s > 0, truth = y > 0;
    auc.add(roc_auc(s, y));
    precision.add(average_precision(s, y));
    mean_f1.add(f1(yes.logical_and(truth).sum().item<double>(), truth.sum().item<double>(),
                   yes.sum().item<double>()));
  }
  out.roc_auc = auc.value();
  out.average_precision = precision.value();
  out.macro_f1 = mean_f1.value();
}

void score_numbers(const torch::Tensor& scores, const torch::Tensor& labels, PartScores& out) {
  const auto error = scores.to(torch::kCPU, torch::kFloat64) - labels.to(torch::kCPU, torch::kFloat64);
  out.mse = error.square().mean().item<double>();
  out.mae = error.abs().mean().item<double>();
  Mean explained;
  for (int64_t k = 0; k < labels.size(1); ++k) {
    const auto y = labels.select(1, k).to(torch::kCPU, torch::kFloat64);
    if (const double all = (y - y.mean()).square().sum().item<double>(); all > 0)
      explained.add(1 - error.select(1, k).square().sum().item<double>() / all);
  }
  out.r2 = explained.value();
}

Metric usual_metric(const torch::Tensor& labels) {
  return are_sets(labels) ? Metric::micro_f1 : are_numbers(labels) ? Metric::r2 : Metric::accuracy;
}

bool suits(Metric metric, const Dataset& dataset) {
  const bool of_numbers = metric == Metric::mse || metric == Metric::mae || metric == Metric::r2;
  if (dataset.is_regression()) return of_numbers;
  const bool of_classes = metric == Metric::accuracy || metric == Metric::balanced_accuracy;
  return !of_numbers && !(dataset.multi_label() && of_classes);
}

}  // namespace

torch::Tensor loss_of(const torch::Tensor& scores, const torch::Tensor& labels,
                      const torch::Tensor& weights) {
  if (are_numbers(labels)) return torch::mse_loss(scores, labels.to(scores.scalar_type()));
  const bool weighted = weights.defined();
  if (are_sets(labels)) {
    const auto truth = labels.to(scores.scalar_type());
    return weighted ? torch::binary_cross_entropy_with_logits(scores, truth, {}, weights.to(scores.options()))
                    : torch::binary_cross_entropy_with_logits(scores, truth);
  }
  return weighted ? torch::cross_entropy_loss(scores, labels, weights.to(scores.options()))
                  : torch::cross_entropy_loss(scores, labels);
}

double loss_weight(const torch::Tensor& labels, const torch::Tensor& weights) {
  if (!weights.defined() || are_numbers(labels) || are_sets(labels))
    return static_cast<double>(labels.size(0));
  return weights.index_select(0, labels).sum().item<double>();
}

torch::Tensor balanced_weights(const torch::Tensor& labels, int64_t classes) {
  if (are_numbers(labels))
    throw ArgumentError("class-weights", "numbers have no classes to balance", "use class-weights none");
  const auto n = static_cast<double>(labels.size(0));
  if (are_sets(labels)) {
    const auto with = labels.sum(0, /*keepdim=*/false, torch::kFloat64);
    return torch::where(with > 0, (n - with) / with.clamp_min(1), torch::ones_like(with));
  }
  const auto count = torch::bincount(labels, {}, classes).to(torch::kFloat64);
  const double present = count.gt(0).sum().item<double>();
  return torch::where(count > 0, n / (present * count.clamp_min(1)), torch::zeros_like(count));
}

bool is_unbalanced(const Dataset& dataset) {
  if (dataset.multi_label() || dataset.is_regression() || dataset.classes != 2) return false;
  return is_unbalanced(dataset.known.sum().item<double>(), dataset.labels.eq(0).sum().item<double>());
}

bool is_unbalanced(double known, double first) {
  const double rarer = std::min(first, known - first);
  constexpr double share = 0.25;
  return rarer > 0 && rarer < share * known;
}

Metric resolved_metric(Metric wanted, const Dataset& dataset) {
  if (wanted == Metric::automatic)
    return is_unbalanced(dataset) ? Metric::roc_auc : usual_metric(dataset.labels);
  if (suits(wanted, dataset)) return wanted;
  throw ArgumentError("metric",
                      fmt::format("{} is not defined for {}", name(wanted),
                                  dataset.is_regression() ? "numbers to predict"
                                  : dataset.multi_label() ? "sets of labels"
                                                          : "classes"),
                      dataset.is_regression() ? "give mse, mae or r2"
                      : dataset.multi_label() ? "give micro_f1, macro_f1, roc_auc or average_precision"
                                              : "give accuracy, balanced_accuracy, macro_f1, roc_auc or "
                                                "average_precision");
}

double score_of(const torch::Tensor& scores, const torch::Tensor& labels) {
  return metric_of(Metric::automatic, scores, labels);
}

const char* metric_name(const torch::Tensor& labels) {
  return name(usual_metric(labels));
}

double metric_of(Metric metric, const torch::Tensor& scores, const torch::Tensor& labels) {
  if (metric == Metric::automatic) metric = usual_metric(labels);
  // Those that are asked for in every epoch, without the others.
  if (metric == Metric::accuracy) return accuracy(scores, labels);
  if (metric == Metric::micro_f1 && are_sets(labels)) return micro_f1(scores, labels);
  if (metric == Metric::roc_auc && labels.dim() == 1 && scores.size(1) == 2)
    return roc_auc(scores.select(1, 1) - scores.select(1, 0), labels == 1)
        .value_or(std::numeric_limits<double>::quiet_NaN());
  return part_scores(scores, labels).of(metric).value_or(std::numeric_limits<double>::quiet_NaN());
}

PartScores part_scores(const torch::Tensor& scores, const torch::Tensor& labels) {
  PartScores out;
  out.nodes = labels.size(0);
  if (out.nodes == 0) return out;
  if (are_numbers(labels))
    score_numbers(scores, labels, out);
  else if (are_sets(labels))
    score_sets(scores, labels, out);
  else
    score_classes(scores, labels, out);
  return out;
}

torch::Tensor constant_scores(const torch::Tensor& training_labels, int64_t classes, int64_t rows) {
  const auto y = training_labels.to(torch::kCPU);
  torch::Tensor row;
  if (are_numbers(y)) {
    row = y.to(torch::kFloat64).mean(0);
  } else if (are_sets(y)) {
    const auto share = y.to(torch::kFloat64).mean(0);
    row = share.log() - (1 - share).log();
  } else {
    row = torch::bincount(y, {}, classes).to(torch::kFloat64).log();
  }
  return row.unsqueeze(0).expand({rows, row.numel()}).contiguous();
}

torch::Tensor scores_of(Model& model, const torch::Tensor& nodes) {
  const torch::NoGradGuard guard;
  model.eval();
  return model.scores(nodes);
}

Evaluation evaluation_of(const torch::Tensor& scores, const torch::Tensor& labels, const Judge& judge) {
  return {loss_of(scores, judge.targets.standardised(labels), judge.class_weights).item<double>(),
          metric_of(judge.metric, judge.targets.raw(scores), labels)};
}

Evaluation evaluate(Model& model, const torch::Tensor& labels, const torch::Tensor& nodes,
                    const Judge& judge) {
  return evaluation_of(scores_of(model, nodes), labels.index_select(0, nodes), judge);
}

Metric metric_by_name(const std::string& wanted) {
  for (const Metric metric : all_metrics())
    if (wanted == name(metric)) return metric;
  throw ArgumentError("metric", fmt::format("there is no metric '{}'", wanted));
}

std::string metric_text(Metric metric, double value) {
  if (std::isnan(value)) return "-";
  switch (metric) {
    case Metric::mse:
    case Metric::mae:
      return fmt::format("{:.6g}", value);
    case Metric::roc_auc:
    case Metric::average_precision:
    case Metric::r2:
      return fmt::format("{:.4f}", value);
    default:
      return fmt::format("{:.2f} %", 100 * value);
  }
}

std::string metric_text(const std::string& metric, double value) {
  return metric_text(metric_by_name(metric), value);
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
                                                const torch::Tensor& distance, int64_t farthest,
                                                int64_t bands) {
  const auto right = scores.argmax(1).eq(labels).to(torch::kCPU);
  const int64_t width = farthest / bands + 1;
  std::vector<DistanceScore> out;
  for (int64_t from = 0; from <= farthest; from += width)
    out.push_back({from, std::min(from + width - 1, farthest), 0, 0});
  for (int64_t k = 0; k < distance.size(0); ++k) {
    DistanceScore& band = out[distance[k].item<int64_t>() / width];
    ++band.nodes;
    band.accuracy += right[k].item<bool>();
  }
  for (DistanceScore& band : out)
    if (band.nodes > 0) band.accuracy /= static_cast<double>(band.nodes);
  return out;
}

}  // namespace eignn
