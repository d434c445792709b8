// The data sets of Geom-GCN (Pei et al. 2020): a folder NAME with two texts, in columns between tabs, each
// with a line of titles first. Lines end in LF or CRLF; empty lines are fine.
//
//   out1_node_feature_label.txt      out1_graph_edges.txt
//     node_id  feature  label          node_id  node_id
//     0        0,1,0,1  4              0        2
//     1        1,0,0,0  -1             2        2
//
// The ids are 0 … n-1, each once, in any order. A label is 0, 1, … or -1 where it is not known. An edge is an
// arc from the first node to the second.
//
// The features are either the numbers themselves, as above, or (in `film`) the indices of those that are 1,
// the others being 0. They are indices
//   - when the title of the column states a number of features, as in "feature(feature_amount:931)"; or
//   - when rows differ in length, every number is whole, the largest is above 1, and no row has more
//     numbers than there would then be features. Other rows of differing length are refused as damaged.
// Indices count from 0 and may be repeated; the number of features is the largest index plus one (932 in
// `film`, whose title states the largest index).
//
// The splits are NAME_split_0.6_0.2_K.npz, K = 0, 1, …, with train_mask, val_mask and test_mask (n,): a node
// is in the part where the entry is not zero. They are searched in NAME, in NAME/splits and in
// NAME/../../splits (as published: new_data/NAME beside splits), and the first of these folders that has any
// is used. Other numbers in place of 0.6_0.2 are accepted where there are no files with these.
#include "data/readers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "data/atomic_file.h"
#include "data/dense_features.h"
#include "data/folder_files.h"
#include "data/npz.h"
#include "data/text_lines.h"

namespace eignn {
namespace {

constexpr const char* nodes_file = "/out1_node_feature_label.txt";
constexpr const char* edges_file = "/out1_graph_edges.txt";
constexpr const char* node_columns = "write id, features and label with a tab between them";

// Reads the line of titles and returns it; a line that begins with a number is refused.
std::string_view take_titles(TextLines* lines, const char* remedy) {
  if (!lines->next()) lines->refuse("the file is empty", remedy);
  const std::string_view line = lines->line();
  const char first = line.empty() ? '0' : line[0];
  if ((first >= '0' && first <= '9') || first == '-') lines->refuse("the line of titles is missing", remedy);
  return line;
}

bool is_empty(std::string_view line) {
  skip_blanks(&line);
  return line.empty();
}

struct NodeRow {
  std::string_view features;
  int64_t label = 0;
  int64_t line = 0;  // from 1; 0: there is no such row
};

Where at_line(const std::string& origin, int64_t line) {
  return {origin, fmt::format("line {}", line)};
}

struct NumberedRow {
  int64_t id;
  NodeRow row;
};

std::vector<NumberedRow> split_rows(TextLines* lines) {
  std::vector<NumberedRow> rows;
  int64_t number = 1;  // the line of titles
  while (lines->next()) {
    const std::string_view line = lines->line();
    ++number;
    if (is_empty(line)) continue;
    const size_t first = line.find('\t'), last = line.rfind('\t');
    if (first == last) lines->refuse("there are not three columns", node_columns);
    const int64_t id = lines->whole_number(line.substr(0, first), "node ids are whole numbers from 0");
    const int64_t label =
        lines->whole_number(line.substr(last + 1), "labels are whole numbers from 0, or -1 where not known");
    if (label < -1) lines->refuse(fmt::format("the label {}", label), "use 0, 1, ..., or -1 where not known");
    rows.push_back({id, {line.substr(first + 1, last - first - 1), label, number}});
  }
  return rows;
}

std::vector<NodeRow> arrange_by_id(const std::vector<NumberedRow>& rows, const std::string& origin) {
  const auto n = static_cast<int64_t>(rows.size());
  std::vector<NodeRow> arranged(rows.size());
  const NumberedRow* outside = nullptr;
  for (const NumberedRow& given : rows) {
    if (given.id < 0 || given.id >= n) {
      if (outside == nullptr) outside = &given;
      continue;
    }
    NodeRow& place = arranged[given.id];
    if (place.line != 0)
      refuse(fmt::format("node {} was already on line {}", given.id, place.line),
             at_line(origin, given.row.line), "give each node one line");
    place = given.row;
  }
  if (outside != nullptr) {
    const auto missing =
        std::find_if(arranged.begin(), arranged.end(), [](const NodeRow& row) { return row.line == 0; });
    refuse(fmt::format("node id {}, but there are {} nodes and none with id {}", outside->id, n,
                       missing - arranged.begin()),
           at_line(origin, outside->row.line), fmt::format("number the nodes from 0 to {}", n - 1));
  }
  return arranged;
}

// Parses d digits 0 or 1 with commas between them, the form of most files, without branches; false when the
// row has another form.
bool parse_binary_row(std::string_view row, size_t d, unsigned char* out) {
  if (row.size() + 1 != 2 * d) return false;
  unsigned wrong = 0;
  const char* text = row.data();
  for (size_t j = 0; j + 1 < d; ++j) {
    out[j] = static_cast<unsigned char>(text[2 * j] - '0');
    wrong |= static_cast<unsigned>(out[j] > 1) | static_cast<unsigned>(text[2 * j + 1] != ',');
  }
  out[d - 1] = static_cast<unsigned char>(row.back() - '0');
  return wrong == 0 && out[d - 1] <= 1;
}

bool parse_binary(const std::vector<NodeRow>& rows, Array* features) {
  const size_t d = (rows[0].features.size() + 1) / 2;
  if (d == 0) return false;
  // With rows of equal length the array takes at most half as much memory as the text.
  for (const NodeRow& row : rows)
    if (row.features.size() != rows[0].features.size()) return false;
  features->shape = {static_cast<int64_t>(rows.size()), static_cast<int64_t>(d)};
  features->type = ElementType::uint8;
  features->bytes.resize(rows.size() * d);
  for (size_t v = 0; v < rows.size(); ++v)
    if (!parse_binary_row(rows[v].features, d, &features->bytes[v * d])) return false;
  return true;
}

// The numbers of all rows, one row after the other.
struct Numbers {
  std::vector<double> values;
  std::vector<size_t> row_begin = {0};
  size_t length(size_t row) const { return row_begin[row + 1] - row_begin[row]; }
};

double parse_number(std::string_view word, const Where& where) {
  const char* remedy = "write features as numbers with commas between them";
  if (word.empty()) refuse("a feature is missing", where, remedy);
  double value = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  if (error == std::errc::result_out_of_range)
    refuse("the feature " + quote(word) + " does not fit into 64 bits", where, remedy);
  if (error != std::errc() || stop != end || !std::isfinite(value))
    refuse("the feature " + quote(word) + " is not a finite number", where, remedy);
  return value;
}

Numbers parse_numbers(const std::vector<NodeRow>& rows, const std::string& origin) {
  Numbers numbers;
  for (const NodeRow& row : rows) {
    std::string_view rest = row.features;
    const Where here = at_line(origin, row.line);
    while (!is_empty(row.features)) {
      numbers.values.push_back(parse_number(take_word(&rest, ','), here));
      skip_blanks(&rest);
      if (rest.empty()) break;
      if (rest.front() != ',')
        refuse("features without a comma between them: " + quote(rest), here, node_columns);
      rest.remove_prefix(1);
    }
    numbers.row_begin.push_back(numbers.values.size());
  }
  return numbers;
}

constexpr double largest_index = 9007199254740991.0;  // 2^53 - 1: doubles up to it hold all whole numbers

bool is_index(double value) {
  return value >= 0 && value <= largest_index && value == std::floor(value);
}

bool are_indices(const Numbers& numbers, bool ragged) {
  if (!ragged || numbers.values.empty()) return false;
  if (!std::all_of(numbers.values.begin(), numbers.values.end(), is_index)) return false;
  const double largest = *std::max_element(numbers.values.begin(), numbers.values.end());
  size_t longest = 0;
  for (size_t row = 0; row + 1 < numbers.row_begin.size(); ++row)
    longest = std::max(longest, numbers.length(row));
  return largest > 1 && static_cast<double>(longest) <= largest + 1;
}

Array features_at(const Numbers& indices, const std::vector<NodeRow>& rows, size_t text_size,
                  const std::string& origin, std::optional<SparseRows>& entries) {
  int64_t largest = -1;
  for (size_t v = 0; v < rows.size(); ++v)
    for (size_t k = indices.row_begin[v]; k < indices.row_begin[v + 1]; ++k) {
      if (!is_index(indices.values[k]))
        refuse(fmt::format("{} is not the index of a feature", indices.values[k]),
               at_line(origin, rows[v].line), "indices are whole numbers from 0");
      largest = std::max(largest, static_cast<int64_t>(indices.values[k]));
    }
  const int64_t d = largest + 1;
  if (stay_sparse(static_cast<int64_t>(rows.size()), d, static_cast<int64_t>(indices.values.size()))) {
    SparseRows listed;
    for (size_t v = 0; v < rows.size(); ++v) {
      const std::set<double> own(
          indices.values.begin() + static_cast<std::ptrdiff_t>(indices.row_begin[v]),
          indices.values.begin() + static_cast<std::ptrdiff_t>(indices.row_begin[v + 1]));
      for (const double index : own) listed.column.push_back(static_cast<int64_t>(index));
      listed.begin.push_back(static_cast<int64_t>(listed.column.size()));
    }
    listed.value.assign(listed.column.size(), 1);
    entries = sorted_rows(std::move(listed), d, origin);
    Array shape;
    shape.shape = {static_cast<int64_t>(rows.size()), d};
    shape.origin = origin;
    return shape;
  }
  Array features = zero_features(static_cast<int64_t>(rows.size()), d, ElementType::uint8, text_size, origin);
  for (size_t v = 0; v < rows.size(); ++v)
    for (size_t k = indices.row_begin[v]; k < indices.row_begin[v + 1]; ++k)
      features.bytes[v * static_cast<size_t>(d) + static_cast<size_t>(indices.values[k])] = 1;
  return features;
}

Array dense_features(const Numbers& numbers, size_t rows, const std::string& origin) {
  const std::vector<int64_t> shape = {static_cast<int64_t>(rows), static_cast<int64_t>(numbers.length(0))};
  const auto& values = numbers.values;
  const auto fits_float = [](double value) {
    return std::abs(value) <= std::numeric_limits<float>::max() && value == static_cast<float>(value);
  };
  Array features = std::all_of(values.begin(), values.end(), fits_float)
                       ? array_of(shape, std::vector<float>(values.begin(), values.end()))
                       : array_of(shape, values);
  features.origin = origin;
  return as_bytes_if_exact(std::move(features));
}

Array parse_features(const std::vector<NodeRow>& rows, bool stated_indices, size_t text_size,
                     const std::string& origin, std::optional<SparseRows>& entries) {
  Array binary;
  binary.origin = origin;
  if (!stated_indices && parse_binary(rows, &binary)) return binary;

  const Numbers numbers = parse_numbers(rows, origin);
  size_t other = 1;  // the first row that is not as long as row 0
  while (other < rows.size() && numbers.length(other) == numbers.length(0)) ++other;
  const bool ragged = other < rows.size();
  if (stated_indices || are_indices(numbers, ragged))
    return features_at(numbers, rows, text_size, origin, entries);
  if (ragged)
    refuse(fmt::format("node {} has {} features, but node 0 has {}", other, numbers.length(other),
                       numbers.length(0)),
           at_line(origin, rows[other].line),
           "give all nodes as many, or state indices in the title: feature(feature_amount:N)");
  return dense_features(numbers, rows.size(), origin);
}

bool is_split_number(std::string_view text) {
  return !text.empty() && text.size() < 10 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// The split files of a set in a folder, by K; all of one kind, such as "0.6_0.2".
std::map<int, std::string> split_files(const std::string& folder, const std::string& name) {
  std::map<std::string, std::map<int, std::string>> kinds;
  if (!file_exists(folder)) return {};
  const std::string prefix = name + "_split_", suffix = ".npz";
  for (const std::string& file : names_in_folder(folder)) {
    if (file.size() < prefix.size() + suffix.size() || file.compare(0, prefix.size(), prefix) != 0) continue;
    if (file.compare(file.size() - suffix.size(), suffix.size(), suffix) != 0) continue;
    const std::string middle = file.substr(prefix.size(), file.size() - prefix.size() - suffix.size());
    const size_t bar = middle.rfind('_');
    if (bar == std::string::npos || !is_split_number(std::string_view(middle).substr(bar + 1))) continue;
    kinds[middle.substr(0, bar)][std::stoi(middle.substr(bar + 1))] = folder + "/" + file;
  }
  if (kinds.empty()) return {};
  const auto published = kinds.find("0.6_0.2");
  if (published != kinds.end()) return published->second;
  if (kinds.size() > 1)
    refuse(fmt::format("splits of {} and of {}", kinds.begin()->first, kinds.rbegin()->first), folder,
           "leave those of one kind");
  return kinds.begin()->second;
}

std::vector<NodeSplit> read_splits(const std::string& folder, const std::string& name, int64_t nodes) {
  std::map<int, std::string> files;
  for (const char* place : {"", "/splits", "/../../splits"})
    if (files.empty()) files = split_files(folder + place, name);
  std::vector<NodeSplit> splits;
  for (const auto& [number, path] : files) {
    const NpzReader masks(path);
    const std::vector<uint8_t> train = masks.read("train_mask").nonzero(),
                               val = masks.read("val_mask").nonzero(),
                               test = masks.read("test_mask").nonzero();
    splits.push_back(split_of_masks(train, val, test, nodes, path));
  }
  return splits;
}

}  // namespace

GeomGcnNodes parse_geom_gcn_nodes(std::string_view text, const std::string& origin) {
  TextLines lines(text, origin);
  const std::string_view titles =
      take_titles(&lines, "begin with the titles node_id, feature, label and tabs between them");
  const bool stated_indices = titles.find("feature_amount") != std::string_view::npos;
  const std::vector<NumberedRow> given = split_rows(&lines);
  if (given.empty()) lines.refuse("no nodes follow the titles", node_columns);
  const std::vector<NodeRow> rows = arrange_by_id(given, origin);

  GeomGcnNodes nodes;
  nodes.features = parse_features(rows, stated_indices, text.size(), origin, nodes.entries);
  nodes.labels.reserve(rows.size());
  for (const NodeRow& row : rows) nodes.labels.push_back(row.label);
  return nodes;
}

ArcList parse_geom_gcn_edges(std::string_view text, int64_t nodes, const std::string& origin) {
  ArcList arcs;
  arcs.nodes = nodes;
  TextLines lines(text, origin);
  take_titles(&lines, "begin with the titles node_id, node_id and a tab between them");
  const auto take_node = [&](std::string_view* rest) {
    const int64_t id = lines.whole_number(take_word(rest), "write two node ids with a tab between them");
    if (id < 0 || id >= nodes)
      lines.refuse(fmt::format("node id {}, but there are {} nodes", id, nodes),
                   fmt::format("use ids >= 0 and < {}", nodes));
    return id;
  };
  while (lines.next()) {
    std::string_view rest = lines.line();
    if (is_empty(rest)) continue;
    arcs.source.push_back(take_node(&rest));
    arcs.target.push_back(take_node(&rest));
    if (!is_empty(rest)) lines.refuse("more than two columns: " + quote(rest), "arcs have no weights here");
  }
  return arcs;
}

namespace {

bool is_geom_gcn(const std::string& folder) {
  return file_exists(folder + nodes_file) || file_exists(folder + edges_file);
}

RawDataset read_geom_gcn(const std::string& folder) {
  RawDataset set;
  set.name = name_of_path(folder);
  set.format = "Geom-GCN text";
  set.path = folder;
  GeomGcnNodes nodes = parse_geom_gcn_nodes(read_whole_file(folder + nodes_file), folder + nodes_file);
  set.features = std::move(nodes.features);
  set.entries = std::move(nodes.entries);
  set.labels = std::move(nodes.labels);
  set.classes = count_classes(set.labels);
  set.arcs =
      parse_geom_gcn_edges(read_whole_file(folder + edges_file), set.features.shape[0], folder + edges_file);
  set.splits = read_splits(folder, set.name, set.nodes());
  check(set);
  return set;
}

}  // namespace

const Reader geom_gcn_reader = {"Geom-GCN", "out1_graph_edges.txt", is_geom_gcn, read_geom_gcn};

}  // namespace eignn
