#include "run/predictions_csv.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "data/atomic_file.h"
#include "data/csv.h"

namespace eignn {

namespace {

// How the classes of a data set, or of a model, are called.
class Names {
 public:
  explicit Names(const std::vector<std::string>& names) : names_(names) {}

  std::string of(int64_t k) const {
    return names_.empty() ? std::to_string(k) : names_.at(static_cast<size_t>(k));
  }
  // The members of a set of labels. The empty set is "-", because an empty field means that the labels are
  // not known.
  template <class Has>
  std::string members(int64_t classes, Has has) const {
    const char* between = names_.empty() ? " " : "; ";
    std::string out;
    for (int64_t c = 0; c < classes; ++c)
      if (has(c)) out += (out.empty() ? "" : between) + of(c);
    return out.empty() ? "-" : csv_field(out);
  }
  // The heads of columns: `stem0`, or `stem_NAME`.
  std::string head(const char* stem, int64_t k) const {
    return names_.empty() ? fmt::format("{}{}", stem, k) : csv_field(fmt::format("{}_{}", stem, of(k)));
  }

 private:
  const std::vector<std::string>& names_;
};

// The labels of all nodes, read once.
class LabelTexts {
 public:
  explicit LabelTexts(const Dataset& data)
      : names_(data.class_names), classes_(data.classes), regression_(data.is_regression()) {
    if (!data.labels.defined() || !data.known.defined()) return;
    several_ = data.multi_label();
    known_ = data.known.contiguous();
    labels_ = data.labels.contiguous();
  }

  // Empty where the label is not known.
  std::string of(int64_t v) const {
    if (!known_.defined() || !known_.data_ptr<bool>()[v]) return "";
    if (several_) {
      const auto* row = labels_.data_ptr<uint8_t>() + v * classes_;
      return names_.members(classes_, [&](int64_t c) { return row[c] != 0; });
    }
    return csv_field(names_.of(labels_.data_ptr<int64_t>()[v]));
  }

  // Of a regression: number k.
  std::string number(int64_t v, int64_t k) const {
    if (!known_.defined() || !regression_ || !known_.data_ptr<bool>()[v] || k >= classes_) return "";
    return fmt::format("{:.9g}", labels_.data_ptr<double>()[v * classes_ + k]);
  }

 private:
  Names names_;
  int64_t classes_;
  bool several_ = false, regression_;
  torch::Tensor known_, labels_;
};

std::vector<const char*> parts_of(const Dataset& data, const Split& split) {
  std::vector<const char*> part(data.nodes(), "none");
  const auto mark = [&](const torch::Tensor& nodes, const char* name) {
    const auto index = nodes.to(torch::kCPU).contiguous();
    const auto* first = index.data_ptr<int64_t>();
    for (const auto* v = first; v != first + index.numel(); ++v) part[*v] = name;
  };
  mark(split.train, "train");
  mark(split.val, "val");
  mark(split.test, "test");
  return part;
}

std::string csv_of_numbers(const Dataset& data, const std::vector<const char*>& part,
                           const torch::Tensor& values, const Names& names,
                           const PredictionColumns& columns) {
  const LabelTexts labels(data);
  const auto table = values.contiguous();
  const int64_t count = table.size(1);
  std::string csv = "node,split";
  for (const char* stem : {"label", "predicted"})
    for (int64_t k = 0; k < count; ++k) csv += "," + (count == 1 ? stem : names.head(stem, k));
  csv += '\n';
  if (!columns.head) csv.clear();
  const auto out = std::back_inserter(csv);
  const double* value = table.data_ptr<double>();
  for (int64_t v = 0; v < data.nodes(); ++v, value += count) {
    fmt::format_to(out, "{},{}", csv_field(data.node_name(v)), part[v]);
    for (int64_t k = 0; k < count; ++k) fmt::format_to(out, ",{}", labels.number(v, k));
    for (int64_t k = 0; k < count; ++k) fmt::format_to(out, ",{:.9g}", value[k]);
    csv += '\n';
  }
  return csv;
}

std::string csv_of_classes(const Dataset& data, const std::vector<const char*>& part,
                           const Predictions& predictions, const Names& names,
                           const PredictionColumns& columns) {
  const bool several = predictions.classes.dim() == 2;
  const auto probability = predictions.probabilities.contiguous();
  const int64_t classes = probability.size(1), top = std::min(columns.top, classes);
  std::string csv = "node,split,label,predicted";
  for (int64_t k = 1; k <= top; ++k) csv += fmt::format(",top{0},top{0}_p", k);
  for (int64_t c = 0; columns.probabilities && c < classes; ++c) csv += "," + names.head("p", c);
  csv += '\n';
  if (!columns.head) csv.clear();
  const auto out = std::back_inserter(csv);
  const LabelTexts labels(data);
  const double* p = probability.data_ptr<double>();
  for (int64_t v = 0; v < data.nodes(); ++v, p += classes) {
    const std::string predicted = several ? names.members(classes, [&](int64_t c) { return p[c] > 0.5; })
                                          : csv_field(names.of(std::max_element(p, p + classes) - p));
    fmt::format_to(out, "{},{},{},{}", csv_field(data.node_name(v)), part[v], labels.of(v), predicted);
    for (const int64_t c : likeliest(p, classes, top))
      fmt::format_to(out, ",{},{:.6g}", csv_field(names.of(c)), p[c]);
    for (int64_t c = 0; columns.probabilities && c < classes; ++c) fmt::format_to(out, ",{:.6g}", p[c]);
    csv += '\n';
  }
  return csv;
}

}  // namespace

std::vector<int64_t> likeliest(const double* probability, int64_t classes, int64_t count) {
  std::vector<int64_t> order(static_cast<size_t>(classes));
  std::iota(order.begin(), order.end(), 0);
  const auto kept = order.begin() + std::min(count, classes);
  std::partial_sort(order.begin(), kept, order.end(), [&](int64_t a, int64_t b) {
    return probability[a] != probability[b] ? probability[a] > probability[b] : a < b;
  });
  order.erase(kept, order.end());
  return order;
}

std::string predictions_csv(const Dataset& data, const Split& split, const Predictions& predictions,
                            const std::vector<std::string>& class_names, const PredictionColumns& columns) {
  const Names names(class_names);
  const auto part = parts_of(data, split);
  return predictions.values.defined() ? csv_of_numbers(data, part, predictions.values, names, columns)
                                      : csv_of_classes(data, part, predictions, names, columns);
}

void write_predictions_csv(const std::string& path, const Dataset& data, const Split& split,
                           const Predictions& predictions, const std::vector<std::string>& class_names,
                           const PredictionColumns& columns) {
  write_file_atomically(path, predictions_csv(data, split, predictions, class_names, columns));
}

}  // namespace eignn
