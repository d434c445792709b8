#include "train/thin_data.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <vector>

#include "data/text_lines.h"
#include "eignn/warning.h"

namespace eignn {

namespace {

constexpr int64_t few_nodes = 20, many_classes = 50;
constexpr double apart = 1e3;
// F has m² numbers, of which few matter (docs/solvers.md): a paper's recipe has ten thousand for each label.
// Data without a recipe get what their table calls for, and there the default has less than a hundred for
// each label, and a GCN on a thousand words and 140 labels some seven hundred.
constexpr int64_t parameters_per_label = 100'000, parameters_per_own_label = 1'000;

void warn_of_part(const char* part, const torch::Tensor& labels, bool classes) {
  if (labels.size(0) < few_nodes)
    warn(fmt::format("the {} part has {}: its score says little", part, counted(labels.size(0), "node")));
  if (classes && std::get<0>(at::_unique(labels)).numel() == 1)
    warn(fmt::format("the {} part has one class alone: its score tells no model from a constant", part));
}

// Classes without a training node, which no model can learn.
void warn_of_empty_classes(const Dataset& dataset, const torch::Tensor& training) {
  const auto counts = dataset.multi_label() ? training.sum(0, /*keepdim=*/false, torch::kInt64)
                                            : torch::bincount(training, {}, dataset.classes);
  std::vector<int64_t> empty;
  for (int64_t c = 0; c < dataset.classes; ++c)
    if (counts[c].item<int64_t>() == 0) empty.push_back(c);
  if (empty.empty()) return;
  constexpr size_t shown = 3;
  std::string names;
  for (size_t k = 0; k < std::min(shown, empty.size()); ++k)
    names += (k == 0 ? "" : ", ") + dataset.class_name(empty[k]);
  if (empty.size() > shown) names += fmt::format(" and {} more", empty.size() - shown);
  warn(fmt::format("no training node has the {} {}: it cannot be learned",
                   empty.size() == 1 ? "class" : "classes", names));
}

// Of each column, over all rows.
torch::Tensor deviations(const torch::Tensor& X) {
  if (!X.is_sparse()) return X.std(0, /*unbiased=*/false);
  const auto n = static_cast<double>(X.size(0));
  const auto column = X.indices()[1], values = X.values();
  const auto sums = [&](const torch::Tensor& terms) {
    return torch::zeros({X.size(1)}, terms.options()).index_add_(0, column, terms) / n;
  };
  return (sums(values.square()) - sums(values).square()).clamp_min(0).sqrt();
}

void warn_of_scales(const Dataset& dataset) {
  const auto deviation = deviations(dataset.features);
  const auto scales = deviation.masked_select(deviation > 0);
  if (scales.numel() < 2) return;
  const auto least = scales.argmin(), most = scales.argmax();
  const double low = scales[least.item<int64_t>()].item<double>(),
               high = scales[most.item<int64_t>()].item<double>();
  if (high >= apart * low)
    warn(
        fmt::format("the features' scales are apart by {:.0e} (deviations from {:.2g} to {:.2g}); "
                    "feature-norm standard brings them together",
                    high / low, low, high));
}

}  // namespace

void warn_of_thin_data(const Dataset& dataset, const Split& split, const TrainConfig& config,
                       int64_t parameters) {
  const bool numbers = dataset.is_regression(), classes = !numbers && !dataset.multi_label();
  const auto labels_of = [&](const torch::Tensor& nodes) {
    return dataset.labels.index_select(0, nodes.to(torch::kCPU));
  };
  warn_of_part("validation", labels_of(split.val), classes);
  warn_of_part("test", labels_of(split.test), classes);
  if (!numbers) warn_of_empty_classes(dataset, labels_of(split.train));
  if (classes && dataset.classes > many_classes)
    warn(fmt::format("there are {} classes; are the labels really classes? (task says otherwise)",
                     dataset.classes));
  if (config.feature_norm == FeatureNorm::none) warn_of_scales(dataset);
  const bool has_recipe = is_dataset_name(config.dataset);
  const int64_t most = has_recipe ? parameters_per_label : parameters_per_own_label;
  if (const int64_t labels = split.train.numel(); parameters > most * labels)
    warn(fmt::format(
        "{} parameters learn from {}: expect chance to be learned too, or take a smaller model ({})",
        parameters, counted(labels, "label"), config.is_eignn() ? "encoder" : "fewer hidden units"));
}

}  // namespace eignn
