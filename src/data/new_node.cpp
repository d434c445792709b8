#include "eignn/new_node.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/torch.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "data/cell.h"
#include "data/sparse_tensor.h"
#include "data/text_lines.h"
#include "eignn/error.h"
#include "graph/nearest_name.h"

namespace eignn {

namespace {

constexpr const char* features_field = "node";
constexpr const char* neighbours_field = "neighbours";

bool is_gap(const std::string& text) {
  return read_cell(text).kind == CellKind::missing;
}

double number_of(const std::string& text, const std::string& column) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value))
    throw ArgumentError(features_field,
                        fmt::format("the feature {} is {}, which is no number", quote(column), quote(text)),
                        "write a number such as 0, -1.5 or 2e-3, or nothing where it is not known");
  return value;
}

// The position of the word among those of the column, which it joins when it is a new one.
double code_of(FeatureColumn& column, const std::string& word) {
  const auto at = std::find(column.words.begin(), column.words.end(), word);
  const auto position = at - column.words.begin();
  if (at == column.words.end()) column.words.push_back(word);
  return static_cast<double>(position);
}

// The features that a node has of itself. Those of the graph are computed anew when it has a node more.
int64_t own_features(const Dataset& data) {
  return data.feature_count() - structural_feature_count(data);
}

// The new node's row of features. New words are added to the columns.
torch::Tensor row_of(Dataset& data, const NewNode& node) {
  const int64_t m = own_features(data);
  std::map<std::string, const std::string*> texts;
  for (const auto& [column, text] : node.features)
    if (!texts.emplace(column, &text).second)
      throw ArgumentError(features_field, fmt::format("the feature {} is given twice", quote(column)),
                          "give it once");
  auto row = torch::empty({1, m}, torch::kFloat64);
  double* value = row.data_ptr<double>();
  std::vector<std::string> missing;
  for (int64_t j = 0; j < m; ++j) {
    const std::string name = data.feature_name(j);
    const auto given = texts.find(name);
    if (given == texts.end()) {
      missing.push_back(name);
      continue;
    }
    const std::string text(trimmed(*given->second));
    texts.erase(given);
    if (is_gap(text)) {
      if (data.columns.empty())
        throw ArgumentError(features_field, fmt::format("the feature {} has no value", quote(name)),
                            "give one: the model was trained on numbers without gaps");
      value[j] = std::numeric_limits<double>::quiet_NaN();
    } else if (!data.columns.empty() && data.columns[static_cast<size_t>(j)].is_category()) {
      value[j] = code_of(data.columns[static_cast<size_t>(j)], text);
    } else {
      value[j] = number_of(text, name);
    }
  }
  if (!texts.empty()) {
    std::vector<std::string> all;
    for (int64_t j = 0; j < m; ++j) all.push_back(data.feature_name(j));
    if (all.empty())
      throw ArgumentError(features_field, "the nodes have no features but those of the graph",
                          "leave its features empty, and name its neighbours");
    throw unknown_name("feature", features_field, texts.begin()->first, all);
  }
  if (!missing.empty())
    throw ArgumentError(features_field, fmt::format("the feature {} is missing", quote(missing[0])),
                        data.columns.empty()
                            ? fmt::format("give {}=VALUE", missing[0])
                            : fmt::format("give {0}=VALUE, or {0}= where it is not known", missing[0]));
  return row;
}

// The numbers of the neighbours, ascending, with the weights of the arcs.
std::vector<std::pair<int64_t, double>> neighbours_of(const Dataset& data, const NewNode& node) {
  std::map<std::string, double> wanted;
  for (const auto& [name, weight] : node.neighbours) {
    if (!(weight > 0) || std::isinf(weight))
      throw ArgumentError(neighbours_field,
                          fmt::format("the arc to {} has the weight {}", quote(name), weight),
                          "give a positive number");
    if (weight != 1 && data.graph.weight.empty())
      throw ArgumentError(neighbours_field,
                          fmt::format("the arc to {} has a weight, and the graph has none", quote(name)),
                          "leave it out");
    if (!wanted.emplace(name, weight).second)
      throw ArgumentError(neighbours_field, fmt::format("{} is named twice", quote(name)), "name it once");
  }
  std::vector<std::pair<int64_t, double>> out;
  for (int64_t v = 0; v < data.nodes() && !wanted.empty(); ++v)
    if (const auto at = wanted.find(data.node_name(v)); at != wanted.end()) {
      out.emplace_back(v, at->second);
      wanted.erase(at);
    }
  if (!wanted.empty())
    throw ArgumentError(neighbours_field, fmt::format("there is no node {}", quote(wanted.begin()->first)),
                        data.node_names.empty() ? fmt::format("give numbers from 0 to {}", data.nodes() - 1)
                                                : "give nodes of the data set by their names");
  return out;
}

Graph with_last(const Graph& graph, const std::vector<std::pair<int64_t, double>>& neighbours) {
  const int64_t last = graph.nodes;
  const bool weighted = !graph.weight.empty();
  Graph out;
  out.nodes = last + 1;
  auto next = neighbours.begin();
  for (int64_t v = 0; v < last; ++v) {
    const auto begin = graph.row_begin[v], end = graph.row_begin[v + 1];
    out.target.insert(out.target.end(), graph.target.begin() + begin, graph.target.begin() + end);
    if (weighted)
      out.weight.insert(out.weight.end(), graph.weight.begin() + begin, graph.weight.begin() + end);
    if (next != neighbours.end() && next->first == v) {
      out.target.push_back(last);
      if (weighted) out.weight.push_back(next->second);
      ++next;
    }
    out.row_begin.push_back(out.arcs());
  }
  for (const auto& [v, weight] : neighbours) {
    out.target.push_back(v);
    if (weighted) out.weight.push_back(weight);
  }
  out.row_begin.push_back(out.arcs());
  return out;
}

// One item of a list.
struct Item {
  std::string text;
  size_t plain_from = 0;  // behind the last character that stood between quotes
};

// The items between commas. What stands between double quotes is taken as it is, a doubled quote as one.
std::vector<Item> items_of(const std::string& list, const char* name) {
  std::vector<Item> out(1);
  bool quoted = false;
  for (size_t k = 0; k < list.size(); ++k) {
    const char c = list[k];
    if (c == '"') {
      if (quoted && k + 1 < list.size() && list[k + 1] == '"')
        out.back().text += list[++k];
      else
        quoted = !quoted;
    } else if (c == ',' && !quoted) {
      out.emplace_back();
    } else {
      out.back().text += c;
    }
    if (quoted) out.back().plain_from = out.back().text.size();
  }
  if (quoted) throw ArgumentError(name, "a quote has no end", "close it");
  return out;
}

std::string cut(const std::string& text, size_t from, size_t to = std::string::npos) {
  return std::string(trimmed(std::string_view(text).substr(from, to == std::string::npos ? to : to - from)));
}

// "age=33": up to the first equals sign before which there is a feature's name.
NewNode::Feature feature_of(const std::string& text, const std::vector<std::string>& names) {
  const size_t first = text.find('=');
  if (first == std::string::npos)
    throw ArgumentError(features_field, fmt::format("{} is no feature with a value", quote(text)),
                        fmt::format("write {}=VALUE", names.empty() ? "NAME" : names[0]));
  for (size_t at = first; at != std::string::npos; at = text.find('=', at + 1))
    if (std::find(names.begin(), names.end(), cut(text, 0, at)) != names.end())
      return {cut(text, 0, at), cut(text, at + 1)};
  return {cut(text, 0, first), cut(text, first + 1)};
}

// "Eve:2.5", where no node is called that.
NewNode::Neighbour neighbour_of(const Dataset& data, const Item& item) {
  const std::string whole = cut(item.text, 0);
  const size_t colon = item.text.rfind(':');
  if (colon == std::string::npos || colon < item.plain_from) return {whole};
  if (std::find(data.node_names.begin(), data.node_names.end(), whole) != data.node_names.end())
    return {whole};
  const std::string weight = cut(item.text, colon + 1);
  double value = 0;
  const char* end = weight.data() + weight.size();
  const auto [stop, error] = std::from_chars(weight.data(), end, value);
  if (error != std::errc() || stop != end)
    throw ArgumentError(neighbours_field,
                        fmt::format("{} is no weight, and there is no node {}", quote(weight), quote(whole)),
                        "write NAME or NAME:WEIGHT");
  return {cut(item.text, 0, colon), value};
}

// The graph of several that the new node joins: that of its neighbours, or one of its own.
int64_t graph_of_new(const Dataset& data, const std::vector<std::pair<int64_t, double>>& neighbours) {
  if (neighbours.empty()) return data.graphs();
  const int64_t graph = data.graph_of[static_cast<size_t>(neighbours[0].first)];
  for (const auto& [v, weight] : neighbours)
    if (data.graph_of[static_cast<size_t>(v)] != graph)
      throw ArgumentError(neighbours_field,
                          fmt::format("{} and {} are of different graphs",
                                      data.node_name(neighbours[0].first), data.node_name(v)),
                          "give neighbours of one graph");
  return graph;
}

}  // namespace

Dataset with_node(const Dataset& data, const NewNode& node) {
  validate(data);
  Dataset out = data;
  const auto neighbours = neighbours_of(data, node);
  const int64_t own = own_features(data);
  out.features = torch::cat({dense_matrix(data.features, "a new node").narrow(1, 0, own), row_of(out, node)});
  out.graph = with_last(data.graph, neighbours);
  if (own < data.feature_count()) {
    out.columns.resize(static_cast<size_t>(own));
    out.report.erase(std::remove_if(out.report.begin(), out.report.end(),
                                    [](const ColumnReport& row) {
                                      return row.file.empty() && row.role == ColumnRole::numbers;
                                    }),
                     out.report.end());
    add_structural_features(out);
  }
  out.arcs_in_file += 2 * static_cast<int64_t>(neighbours.size());
  if (!data.node_names.empty()) {
    std::string name = node.name;
    const auto taken = [&] {
      return std::find(data.node_names.begin(), data.node_names.end(), name) != data.node_names.end();
    };
    for (int64_t k = 2; taken(); ++k) name = fmt::format("{} {}", node.name, k);
    out.node_names.push_back(name);
  }
  if (data.labels.defined()) {
    auto shape = data.labels.sizes().vec();
    shape[0] = 1;
    const auto unknown = data.is_regression()
                             ? torch::full(shape, std::nan(""), torch::kFloat64)
                             : torch::full(shape, data.multi_label() ? 0 : -1, data.labels.options());
    out.labels = torch::cat({data.labels, unknown});
  }
  if (data.known.defined()) out.known = torch::cat({data.known, torch::zeros({1}, torch::kBool)});
  if (!data.graph_of.empty()) out.graph_of.push_back(graph_of_new(data, neighbours));
  if (!data.distance.empty()) out.distance.push_back(0);
  return out;
}

NewNode parse_node(const Dataset& data, const std::string& features, const std::string& neighbours) {
  validate(data);
  NewNode node;
  std::vector<std::string> names;
  for (int64_t j = 0; j < own_features(data); ++j) names.push_back(data.feature_name(j));
  if (!trimmed(features).empty()) {
    const std::vector<Item> items = items_of(features, features_field);
    const bool values_alone = data.columns.empty() && features.find('=') == std::string::npos;
    if (values_alone && items.size() != names.size())
      throw ArgumentError(features_field,
                          fmt::format("{} values for {} features", items.size(), names.size()),
                          "give a value for each");
    for (size_t k = 0; k < items.size(); ++k)
      node.features.push_back(values_alone ? NewNode::Feature{names[k], cut(items[k].text, 0)}
                                           : feature_of(items[k].text, names));
  }
  if (!trimmed(neighbours).empty())
    for (const Item& item : items_of(neighbours, neighbours_field))
      node.neighbours.push_back(neighbour_of(data, item));
  return node;
}

}  // namespace eignn
