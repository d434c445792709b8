#include "data/raw_dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <system_error>

#include "data/graph_file.h"
#include "data/text_lines.h"

namespace eignn {

namespace {

// Of a table: NaN is a gap, and a category has positions of its words.
void check_columns(const RawDataset& set) {
  const int64_t columns = set.features.shape[1];
  if (set.features.type != ElementType::float64 || static_cast<int64_t>(set.columns.size()) != columns)
    refuse(fmt::format("{} columns for {} features", set.columns.size(), columns), set.path,
           "describe each feature");
  const auto* values = reinterpret_cast<const double*>(set.features.bytes.data());
  for (int64_t k = 0; k < set.features.size(); ++k) {
    const FeatureColumn& column = set.columns[static_cast<size_t>(k % columns)];
    const double value = values[k];
    const bool fits = column.is_category() ? value >= 0 && value < static_cast<double>(column.words.size()) &&
                                                 value == std::floor(value)
                                           : std::isfinite(value);
    if (!fits && !std::isnan(value))
      refuse(fmt::format("{} of node {} is {}", column.name, k / columns, value), set.path,
             "use finite numbers, and words of a category");
  }
}

template <class Number>
void check_finite_numbers(const Array& features, int64_t first_node) {
  const int64_t columns = features.shape[1];
  const auto* values = reinterpret_cast<const Number*>(features.bytes.data());
  for (int64_t k = 0; k < features.size(); ++k) {
    if (!std::isfinite(values[k]))
      refuse(
          fmt::format("feature {} of node {} is not a finite number", k % columns, first_node + k / columns),
          features.origin, "clean the data first");
  }
}

void check_entries(const RawDataset& set) {
  const SparseRows& rows = *set.entries;
  if (static_cast<int64_t>(rows.begin.size()) != set.nodes() + 1)
    refuse(fmt::format("{} rows of features for {} nodes", rows.begin.size() - 1, set.nodes()),
           set.features.origin, "give one row per node");
  for (size_t k = 0; k < rows.value.size(); ++k)
    if (!std::isfinite(rows.value[k]))
      refuse(fmt::format("a feature in column {} is not a finite number", rows.column[k]),
             set.features.origin, "clean the data first");
}

void check_features(const RawDataset& set) {
  const auto& shape = set.features.shape;
  if (shape.size() != 2 || shape[0] != set.nodes())
    refuse(fmt::format("the features have {} rows, but the graph has {} nodes", shape.empty() ? 0 : shape[0],
                       set.nodes()),
           set.features.origin.empty() ? set.path : set.features.origin, "give one row per node");
  if (set.format == tables_format) return check_columns(set);
  if (shape[1] == 0) refuse("the features have no columns", set.features.origin, "give at least one feature");
  if (set.entries) return check_entries(set);
  check_finite(set.features);
}

void check_labels(const RawDataset& set) {
  const auto n = static_cast<size_t>(set.nodes()), c = static_cast<size_t>(set.classes);
  const char* one_each = "give one label per node";
  if (!set.is_labelled()) return;
  if (set.is_regression()) {
    if (set.targets.size() != n * c)
      refuse(fmt::format("the targets have not {} rows of {}", n, c), set.path, one_each);
    return;
  }
  if (set.multi_label()) {
    if (set.label_sets.size() != n * c || (!set.known.empty() && set.known.size() != n))
      refuse(fmt::format("the labels have not {} rows of {}", n, c), set.path, one_each);
    for (size_t k = 0; k < set.label_sets.size(); ++k)
      if (set.label_sets[k] > 1)
        refuse(fmt::format("label {} of node {} is {}", k % c, k / c, set.label_sets[k]), set.path,
               "use 0 and 1");
    return;
  }
  if (set.labels.size() != n)
    refuse(fmt::format("{} labels for {} nodes", set.labels.size(), n), set.path, one_each);
  if (set.classes < 1) refuse("no node has a label", set.path, "label some nodes of each class");
  // A model has weights for every class, so that one mistyped label could exhaust the memory.
  constexpr int64_t most_classes = 1'000'000;
  if (set.classes > most_classes)
    refuse(fmt::format("a label of {}", set.classes - 1), set.path, "number the classes 0, 1, 2, ...");
  for (size_t v = 0; v < n; ++v)
    if (set.labels[v] < -1 || set.labels[v] >= set.classes)
      refuse(fmt::format("node {} has the label {}", v, set.labels[v]), set.path,
             fmt::format("use 0 to {}, or -1 where it is not known", set.classes - 1));
}

void check_graphs(const RawDataset& set) {
  if (set.graph_of.empty()) return;
  if (static_cast<int64_t>(set.graph_of.size()) != set.nodes())
    refuse(fmt::format("{} graph ids for {} nodes", set.graph_of.size(), set.nodes()), set.path,
           "give one per node");
  for (size_t k = 0; k < set.arcs.source.size(); ++k) {
    const int64_t a = set.arcs.source[k], b = set.arcs.target[k];
    if (set.graph_of[a] != set.graph_of[b])
      refuse(fmt::format("arc {} (counted from 0) joins node {} of graph {} and node {} of graph {}", k, a,
                         set.graph_of[a], b, set.graph_of[b]),
             set.path, "check the graph ids");
  }
}

void check_split(const NodeSplit& split, int64_t nodes, const Where& where) {
  std::vector<const char*> part_of(nodes, nullptr);
  const std::pair<const char*, const std::vector<int64_t>*> parts[] = {
      {"train", &split.train}, {"val", &split.val}, {"test", &split.test}};
  for (const auto& [part, members] : parts) {
    if (members->empty()) refuse(fmt::format("no node is in {}", part), where, "each part needs one");
    for (const int64_t v : *members) {
      if (v < 0 || v >= nodes)
        refuse(fmt::format("node {} of {} is not one of the {}", v, part, nodes), where,
               fmt::format("use ids >= 0 and < {}", nodes));
      if (part_of[v] != nullptr)
        refuse(fmt::format("node {} is in {} and in {}", v, part_of[v], part), where,
               "put each node into one part");
      part_of[v] = part;
    }
  }
}

}  // namespace

void check_finite(const Array& features, int64_t first_node) {
  if (features.type == ElementType::float32) check_finite_numbers<float>(features, first_node);
  if (features.type == ElementType::float64) check_finite_numbers<double>(features, first_node);
}

void check(const RawDataset& set) {
  if (set.nodes() < 1) refuse("the graph has no nodes", set.path, "give at least one");
  check_node_range(set.arcs, set.nodes(), set.path);
  if (!set.arcs.weight.empty() && set.arcs.weight.size() != set.arcs.source.size())
    refuse(fmt::format("{} weights for {} arcs", set.arcs.weight.size(), set.arcs.source.size()), set.path,
           "give one weight per arc");
  check_features(set);
  check_labels(set);
  check_graphs(set);
  for (size_t k = 0; k < set.splits.size(); ++k)
    check_split(set.splits[k], set.nodes(), {set.path, fmt::format("split {}", k)});
}

int64_t count_classes(const std::vector<int64_t>& labels) {
  int64_t largest = -1;
  for (const int64_t label : labels) largest = std::max(largest, label);
  return std::min(largest, std::numeric_limits<int64_t>::max() - 1) + 1;  // check() refuses that many
}

std::string name_of_path(const std::string& path) {
  std::error_code unnamed;  // errors give an empty name
  std::filesystem::path whole = std::filesystem::absolute(path, unnamed).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();  // "texas/" and "."
  return (std::filesystem::is_directory(whole, unnamed) ? whole.filename() : whole.stem()).string();
}

NodeSplit split_of_masks(const std::vector<uint8_t>& train, const std::vector<uint8_t>& val,
                         const std::vector<uint8_t>& test, int64_t nodes, const Where& origin) {
  NodeSplit split;
  const auto members = [&](const char* part, const std::vector<uint8_t>& mask) {
    if (static_cast<int64_t>(mask.size()) != nodes)
      refuse(fmt::format("the {} mask has {} entries, but the graph has {} nodes", part, mask.size(), nodes),
             origin, "give one entry per node");
    std::vector<int64_t> out;
    for (int64_t v = 0; v < nodes; ++v)
      if (mask[v] != 0) out.push_back(v);
    return out;
  };
  split.train = members("train", train);
  split.val = members("val", val);
  split.test = members("test", test);
  check_split(split, nodes, origin);
  return split;
}

}  // namespace eignn
