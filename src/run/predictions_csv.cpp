#include "run/predictions_csv.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "data/atomic_file.h"
#include "data/csv.h"
#include "data/npy.h"
#include "train/spread.h"

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
                           const torch::Tensor& values, const Names& names, const PredictionColumns& columns,
                           std::vector<size_t>* line_ends) {
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
  for (int64_t v = 0; v < columns.rows; ++v, value += count) {
    fmt::format_to(out, "{},{}", csv_field(data.node_name(v)), part[v]);
    for (int64_t k = 0; k < count; ++k) fmt::format_to(out, ",{}", labels.number(v, k));
    for (int64_t k = 0; k < count; ++k) fmt::format_to(out, ",{:.9g}", value[k]);
    csv += '\n';
    if (line_ends) line_ends->push_back(csv.size());
  }
  return csv;
}

std::string csv_of_classes(const Dataset& data, const std::vector<const char*>& part,
                           const Predictions& predictions, const Names& names,
                           const PredictionColumns& columns, std::vector<size_t>* line_ends) {
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
  for (int64_t v = 0; v < columns.rows; ++v, p += classes) {
    const std::string predicted = several ? names.members(classes, [&](int64_t c) { return p[c] > 0.5; })
                                          : csv_field(names.of(std::max_element(p, p + classes) - p));
    fmt::format_to(out, "{},{},{},{}", csv_field(data.node_name(v)), part[v], labels.of(v), predicted);
    for (const int64_t c : likeliest(p, classes, top))
      fmt::format_to(out, ",{},{:.6g}", csv_field(names.of(c)), p[c]);
    for (int64_t c = 0; columns.probabilities && c < classes; ++c) fmt::format_to(out, ",{:.6g}", p[c]);
    csv += '\n';
    if (line_ends) line_ends->push_back(csv.size());
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
                            const std::vector<std::string>& class_names, const PredictionColumns& given,
                            std::vector<size_t>* line_ends) {
  const Names names(class_names);
  PredictionColumns columns = given;
  if (columns.rows < 0) columns.rows = data.nodes();
  const auto part = parts_of(data, split);
  return predictions.values.defined()
             ? csv_of_numbers(data, part, predictions.values, names, columns, line_ends)
             : csv_of_classes(data, part, predictions, names, columns, line_ends);
}

void write_predictions_csv(const std::string& path, const Dataset& data, const Split& split,
                           const Predictions& predictions, const std::vector<std::string>& class_names,
                           const PredictionColumns& columns) {
  write_file_atomically(path, predictions_csv(data, split, predictions, class_names, columns));
}

namespace {

// The lines of own nodes, one below the other.
struct OwnLines {
  std::string text;
  std::vector<size_t> ends;
};

// Runs of own nodes one after another, so that the first process holds those of one process beside its own.
void write_runs(const Spread& spread, const OwnLines& own, AtomicFile* file) {
  const Ranks& ranks = spread.ranks;
  size_t done = 0, begin = 0;
  for (const Spread::Run& run : spread.runs) {
    std::string here;
    if (run.process == ranks.rank() && run.nodes > 0) {
      done += static_cast<size_t>(run.nodes);
      here = own.text.substr(begin, own.ends.at(done - 1) - begin);
      begin = own.ends[done - 1];
    }
    ranks.texts_to_first(here, [&](const std::string& lines) { file->write(lines.data(), lines.size()); });
  }
}

// Where the processes have taken nodes in another order: the first one holds all lines, and sorts them.
void write_sorted(const Spread& spread, const OwnLines& own, AtomicFile* file) {
  const Ranks& ranks = spread.ranks;
  std::vector<int64_t> number, length;
  for (int64_t v = 0; v < spread.own.count(); ++v) {
    const auto at = static_cast<size_t>(v);
    number.push_back(spread.own.number(v));
    length.push_back(static_cast<int64_t>(own.ends.at(at) - (v == 0 ? 0 : own.ends[at - 1])));
  }
  const auto numbers = ranks.rows_on_first(torch::tensor(number, torch::kInt64)),
             lengths = ranks.rows_on_first(torch::tensor(length, torch::kInt64));
  std::string all;
  ranks.texts_to_first(own.text, [&](const std::string& lines) { all += lines; });
  ranks.on_first([&] {
    std::vector<std::pair<size_t, size_t>> line(
        static_cast<size_t>(numbers.numel()));  // where it begins, its length
    size_t begin = 0;
    for (int64_t k = 0; k < numbers.numel(); ++k) {
      const auto bytes = static_cast<size_t>(lengths.data_ptr<int64_t>()[k]);
      line.at(static_cast<size_t>(numbers.data_ptr<int64_t>()[k])) = {begin, bytes};
      begin += bytes;
    }
    for (const auto& [from, bytes] : line) file->write(all.data() + from, bytes);
  });
}

void write_together(const std::string& path, const Spread& spread, const std::string& head,
                    const std::function<OwnLines()>& own) {
  const Ranks& ranks = spread.ranks;
  OwnLines lines;
  ranks.together([&] { lines = own(); });
  std::optional<AtomicFile> file;
  ranks.on_first([&] {
    file.emplace(path);
    file->write(head.data(), head.size());
  });
  AtomicFile* const to = file ? &*file : nullptr;
  spread.runs.empty() ? write_sorted(spread, lines, to) : write_runs(spread, lines, to);
  ranks.on_first([&] { file->commit(); });
}

}  // namespace

void write_predictions_together(const std::string& path, const Dataset& here, const Split& split,
                                const Predictions& predictions, const std::vector<std::string>& class_names,
                                PredictionColumns columns) {
  columns.rows = 0;
  const std::string head = predictions_csv(here, split, predictions, class_names, columns);
  columns.rows = here.nodes();
  columns.head = false;
  write_together(path, *here.spread, head, [&] {
    OwnLines lines;
    lines.text = predictions_csv(here, split, predictions, class_names, columns, &lines.ends);
    return lines;
  });
}

void write_npy_together(const std::string& path, const Dataset& here, const torch::Tensor& rows) {
  const auto matrix = rows.to(torch::kCPU, torch::kFloat64).contiguous();
  const size_t row = static_cast<size_t>(matrix.size(1)) * sizeof(double);
  write_together(path, *here.spread, npy_header(ElementType::float64, {here.spread->nodes, matrix.size(1)}),
                 [&] {
                   OwnLines lines;
                   lines.text.assign(reinterpret_cast<const char*>(matrix.data_ptr<double>()),
                                     static_cast<size_t>(matrix.size(0)) * row);
                   for (int64_t v = 1; v <= matrix.size(0); ++v)
                     lines.ends.push_back(static_cast<size_t>(v) * row);
                   return lines;
                 });
}

}  // namespace eignn
