// A user's own graph. Its folder holds
//
//   the graph      one of graph.mtx, graph.npz, edges.npy, edges.csv, edges.tsv, edges.txt (graph_file.cpp)
//   the features   features.npy (n, d) or features.csv; their rows say how many nodes there are
//   the labels     labels.npy (n,), or (n, c) of 0 and 1, or labels.csv
//   the splits     none; or splits.csv; or train_masks.npy, val_masks.npy and test_masks.npy, (n,) or (k, n)
//
// Nodes are 0 … n-1. A table (csv.cpp) begins with a header. If a column is named `id`, it says which node a
// row is about, in any order, each at most once; otherwise row k is node k and there are n rows.
//
//   features.csv   every other column is a feature, a finite number in every row; each node has a row
//   labels.csv     one other column: the class, 0, 1, 2, …; empty or -1: not known
//                  several: 0 or 1 in each, one column per label; a row of empty fields: not known
//                  with ids, a node without a row is not known
//   splits.csv     each other column is a split: train, val, test, or empty for a node in none of them
//
// In labels.npy -1 stands for not known, in (n, c) a row of -1.
#include "data/own_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "data/atomic_file.h"
#include "data/csv.h"
#include "data/folder_files.h"
#include "data/graph_file.h"
#include "data/mapped_array.h"
#include "data/mask_splits.h"
#include "data/readers.h"
#include "data/text_lines.h"

namespace eignn {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> graph_names = {"graph.mtx", "graph.npz", "edges.npy",
                                              "edges.csv", "edges.tsv", "edges.txt"};
const std::vector<std::string> features_names = {"features.npy", "features.csv"};
const std::vector<std::string> labels_names = {"labels.npy", "labels.csv"};
const std::vector<std::string> mask_names = {"train_masks.npy", "val_masks.npy", "test_masks.npy"};

std::vector<std::string> present(const std::string& folder, const std::vector<std::string>& names) {
  std::vector<std::string> found;
  for (const std::string& name : names)
    if (file_exists((fs::path(folder) / name).string())) found.push_back(name);
  return found;
}

std::string only_one(const std::string& folder, const char* what, const std::vector<std::string>& names) {
  const std::vector<std::string> found = present(folder, names);
  if (found.empty())
    refuse(fmt::format("no file with the {}", what), folder,
           fmt::format("add one of {}", fmt::join(names, ", ")));
  if (found.size() > 1)
    refuse(fmt::format("{} files with the {}: {}", found.size(), what, fmt::join(found, ", ")), folder,
           "keep one of them");
  return (fs::path(folder) / found[0]).string();
}

constexpr const char* use_numbers =
    "write the node's number, from 0 on; for nodes with names write nodes.csv, nodes-features.csv, ... "
    "(docs/data.md)";

// The node of each row of a table, given by the column `id` or by the position of the row.
class RowNodes {
 public:
  // `nodes` is -1 when the table itself determines the number of nodes.
  RowNodes(const CsvReader& rows, const std::string& origin, int64_t nodes)
      : rows_(rows),
        origin_(origin),
        id_(rows.find("id")),
        nodes_(nodes),
        seen_(std::max<int64_t>(nodes, 0)) {
    for (size_t k = 0; k < rows.columns(); ++k)
      if (k != id_) values_.push_back(k);
    if (values_.empty()) refuse("no column but id", origin, "add the columns that it is about");
  }

  bool has_ids() const { return id_.has_value(); }

  // The columns that are not the id.
  const std::vector<size_t>& values() const { return values_; }

  // The node of the current row; -1 for a surplus row.
  int64_t next() {
    const int64_t node = id_ ? rows_.whole_number(*id_, use_numbers) : read_;
    ++read_;
    if (nodes_ < 0) return node;
    if (node < 0 || node >= nodes_) {
      if (!id_) return -1;
      rows_.refuse(fmt::format("node {} is not one of the {}", node, nodes_),
                   fmt::format("use ids >= 0 and < {}", nodes_));
    }
    if (seen_[node]) rows_.refuse(fmt::format("a second row for node {}", node), "give each node one row");
    seen_[node] = true;
    return node;
  }

  // Without ids there is a row for each node.
  void finish() const {
    if (!id_ && read_ != nodes_)
      refuse(fmt::format("{} rows, but there are {} nodes", read_, nodes_), origin_,
             "give one row per node (\"\" for an empty one), or add a column id");
  }

 private:
  const CsvReader& rows_;
  const std::string& origin_;
  std::optional<size_t> id_;
  std::vector<size_t> values_;
  int64_t nodes_;
  int64_t read_ = 0;  // rows
  std::vector<bool> seen_;
};

// The row of each node, from the ids of the n rows, which must be 0 … n-1, each once. line_of[r] is for
// messages.
std::vector<int64_t> row_of_node(const std::vector<int64_t>& ids, const std::vector<int64_t>& line_of,
                                 const std::string& origin) {
  const auto n = static_cast<int64_t>(ids.size());
  constexpr const char* remedy = "give each node from 0 on one row";
  std::vector<int64_t> row(n, -1);
  int64_t row_past_gap = -1;  // a row whose id is n or more: then some node is missing
  for (int64_t r = 0; r < n; ++r) {
    const auto where = [&] { return Where(origin, fmt::format("line {}", line_of[r])); };
    if (ids[r] < 0) refuse(fmt::format("negative id {}", ids[r]), where(), remedy);
    if (ids[r] >= n) {
      row_past_gap = r;
    } else {
      if (row[ids[r]] >= 0) refuse(fmt::format("a second row for node {}", ids[r]), where(), remedy);
      row[ids[r]] = r;
    }
  }
  if (row_past_gap >= 0) {
    const auto missing = std::find(row.begin(), row.end(), -1) - row.begin();
    refuse(fmt::format("node {} has no row, but node {} has one", missing, ids[row_past_gap]),
           {origin, fmt::format("line {}", line_of[row_past_gap])}, remedy);
  }
  return row;
}

void check_is_matrix(const Array& features, const std::string& path) {
  if (features.shape.size() != 2) {
    refuse(fmt::format("the features have the shape ({})", fmt::join(features.shape, ", ")), path,
           "save them as (nodes, features)");
  }
}

Array read_features(const std::string& path) {
  const std::string content = read_whole_file(path);
  if (!is_npy(content)) return parse_features_csv(content, path);
  Array features = parse_npy(content, path);
  check_is_matrix(features, path);
  return features;
}

void take_label_array(const Array& array, RawDataset* set) {
  const int64_t n = set->nodes();
  const auto& shape = array.shape;
  if (shape.empty() || shape.size() > 2 || shape[0] != n)
    refuse(fmt::format("the labels have the shape ({}), but there are {} nodes", fmt::join(shape, ", "), n),
           array.origin, "save them as (nodes,), or as (nodes, labels) of 0 and 1");
  std::vector<int64_t> values = array.as<int64_t>();
  if (shape.size() == 1 || shape[1] == 1) {
    set->labels = std::move(values);
    set->classes = count_classes(set->labels);
    return;
  }
  set->classes = shape[1];
  set->label_sets.assign(values.size(), 0);
  set->known.assign(n, 1);
  for (int64_t v = 0; v < n; ++v) {
    const int64_t* row = &values[v * set->classes];
    if (std::all_of(row, row + set->classes, [](int64_t value) { return value == -1; })) {
      set->known[v] = 0;
      continue;
    }
    for (int64_t k = 0; k < set->classes; ++k) {
      if (row[k] != 0 && row[k] != 1)
        refuse(fmt::format("label {} of node {} is {}", k, v, row[k]), array.origin,
               "use 0 and 1, and a row of -1 where they are not known");
      set->label_sets[v * set->classes + k] = static_cast<uint8_t>(row[k]);
    }
  }
}

void read_labels(const std::string& path, RawDataset* set) {
  const std::string content = read_whole_file(path);
  if (is_npy(content)) {
    take_label_array(parse_npy(content, path), set);
  } else {
    parse_labels_csv(content, path, set);
  }
  if (set->multi_label() && std::find(set->known.begin(), set->known.end(), 1) == set->known.end())
    refuse("no node has labels", path, "label some nodes");
  if (!set->multi_label() && set->classes == 0)
    refuse("no node has a label", path, "label some nodes of each class");
}

// Nodes without a row take memory too, so that a short file with many columns could exhaust it.
void check_label_memory(int64_t nodes, size_t columns, size_t text_size, const std::string& origin) {
  constexpr size_t always_fine = size_t{1} << 30;
  constexpr size_t largest_ratio = 100;
  const double needed = static_cast<double>(nodes) * static_cast<double>(columns);
  if (needed > always_fine && needed / largest_ratio > static_cast<double>(text_size))
    refuse(fmt::format("{} bytes of text for {} nodes and {} columns", text_size, nodes, columns), origin,
           "give each node a row");
}

constexpr const char* no_nodes = "the graph has no nodes";
constexpr const char* give_rows = "give each node a row of features";

void read_labels_and_splits(const OwnGraphFiles& files, RawDataset* set) {
  read_labels(files.labels, set);
  std::error_code unreadable;
  if (fs::is_directory(files.splits, unreadable)) {
    set->splits = read_mask_splits(NamedArrays(files.splits), set->nodes());
  } else if (!files.splits.empty()) {
    set->splits = parse_splits_csv(read_whole_file(files.splits), files.splits, set->nodes());
  }
}

RawDataset read_files(const OwnGraphFiles& files, const std::string& path) {
  RawDataset set;
  set.format = "own graph";
  set.path = path;
  set.features = read_features(files.features);
  const int64_t nodes = set.features.shape[0];
  if (nodes == 0) refuse(no_nodes, files.features, give_rows);
  set.arcs = read_graph(files.graph, "");
  check_node_range(set.arcs, nodes, files.graph);
  set.arcs.nodes = nodes;
  read_labels_and_splits(files, &set);
  return set;
}

// A mapped features.npy as rows.
std::function<void(const TakeRows&)> mapped_rows(std::shared_ptr<const MappedArray> features) {
  return [features](const TakeRows& take) {
    constexpr int64_t together = 1 << 12;
    for (int64_t first = 0; first < features->rows(); first += together) {
      const int64_t last = std::min(features->rows(), first + together);
      take(reinterpret_cast<const unsigned char*>(features->bytes(first, last).data()), last - first);
      features->forget(first, last);
    }
  };
}

StreamedDataset stream_files(const OwnGraphFiles& files, const std::string& path, EdgeWeights weights) {
  StreamedDataset out;
  RawDataset& set = out.nodes;
  set.format = "own graph";
  set.path = path;
  if (MappedArray::can_map(files.features)) {
    auto features = std::make_shared<const MappedArray>(files.features);
    set.features.shape = features->shape();
    set.features.type = features->type();
    set.features.origin = files.features;
    check_is_matrix(set.features, files.features);
    out.each_features = mapped_rows(std::move(features));
  } else {
    Array features = read_features(files.features);
    set.features.shape = features.shape;
    set.features.type = features.type;
    set.features.origin = files.features;
    out.each_features = rows_in_memory(std::move(features));
  }
  const int64_t nodes = set.features.shape[0];
  if (nodes == 0) refuse(no_nodes, files.features, give_rows);
  set.arcs.nodes = nodes;
  read_labels_and_splits(files, &set);
  out.each_arcs = [graph = files.graph, nodes, weights](const TakeArcs& take) {
    each_arcs(graph, weights, [&](const ArcPiece& piece) {
      if (piece.arcs.nodes >= 0) check_node_range(piece.arcs, nodes, graph);
      take(piece);
    });
  };
  return out;
}

}  // namespace

Array parse_features_csv(std::string_view text, const std::string& origin) {
  CsvReader rows(text, origin);
  RowNodes nodes(rows, origin, -1);
  std::vector<double> values;
  std::vector<int64_t> ids, line_of;
  while (rows.next()) {
    ids.push_back(nodes.next());
    line_of.push_back(rows.line());
    for (const size_t k : nodes.values()) values.push_back(rows.number(k));
  }
  const auto d = nodes.values().size();
  Array features;
  features.shape = {static_cast<int64_t>(ids.size()), static_cast<int64_t>(d)};
  features.type = ElementType::float64;
  features.origin = origin;
  features.bytes.resize(values.size() * sizeof(double));
  const std::vector<int64_t> row = row_of_node(ids, line_of, origin);
  for (size_t v = 0; v < row.size(); ++v)
    std::memcpy(&features.bytes[v * d * sizeof(double)], &values[row[v] * d], d * sizeof(double));
  return features;
}

void parse_labels_csv(std::string_view text, const std::string& origin, RawDataset* set) {
  const int64_t n = set->nodes();
  CsvReader rows(text, origin);
  RowNodes nodes(rows, origin, n);
  const auto& columns = nodes.values();
  const auto c = columns.size();
  const bool several = c > 1;
  set->classes = several ? static_cast<int64_t>(c) : 0;
  if (several) {
    check_label_memory(n, c, text.size(), origin);
    set->known.assign(n, 0);
    set->label_sets.assign(static_cast<size_t>(n) * c, 0);
  } else {
    set->labels.assign(n, -1);
  }
  while (rows.next()) {
    const int64_t v = nodes.next();
    if (v < 0) continue;
    if (!several) {
      if (rows.is_empty(columns[0])) continue;
      const int64_t label = rows.whole_number(
          columns[0], "number the classes 0, 1, 2, ..., and leave it empty where it is not known");
      if (label < -1)
        rows.refuse_field(columns[0], fmt::format("the label {}", label),
                          "number the classes 0, 1, 2, ..., and write -1 where it is not known");
      set->labels[v] = label;
      continue;
    }
    if (std::all_of(columns.begin(), columns.end(), [&](size_t k) { return rows.is_empty(k); })) continue;
    set->known[v] = 1;
    for (size_t k = 0; k < c; ++k) {
      const int64_t value = rows.whole_number(columns[k], "write 0 or 1, or leave the whole row empty");
      if (value != 0 && value != 1)
        rows.refuse_field(
            columns[k], fmt::format("{} among several columns of labels", value),
            "write 0 or 1; for one class per node use one column (and id for the node's number)");
      set->label_sets[v * c + k] = static_cast<uint8_t>(value);
    }
  }
  nodes.finish();
  if (!several) set->classes = count_classes(set->labels);
}

std::vector<NodeSplit> parse_splits_csv(std::string_view text, const std::string& origin, int64_t nodes) {
  CsvReader rows(text, origin);
  RowNodes row_nodes(rows, origin, nodes);
  std::vector<NodeSplit> splits(row_nodes.values().size());
  while (rows.next()) {
    const int64_t v = row_nodes.next();
    if (v < 0) continue;
    for (size_t k = 0; k < splits.size(); ++k) {
      const size_t column = row_nodes.values()[k];
      const std::string_view part = rows.field(column);
      if (part == "train") {
        splits[k].train.push_back(v);
      } else if (part == "val") {
        splits[k].val.push_back(v);
      } else if (part == "test") {
        splits[k].test.push_back(v);
      } else if (!rows.is_empty(column)) {
        rows.refuse_field(column, quote(part) + " is no part of a split",
                          "write train, val or test, or leave it empty");
      }
    }
  }
  row_nodes.finish();
  for (NodeSplit& split : splits)
    for (auto* part : {&split.train, &split.val, &split.test}) std::sort(part->begin(), part->end());
  return splits;
}

RawDataset read_own_graph(const OwnGraphFiles& files) {
  RawDataset set = read_files(files, files.graph);
  set.name = name_of_path(files.graph);
  check(set);
  return set;
}

StreamedDataset stream_own_graph(const OwnGraphFiles& files, EdgeWeights weights) {
  StreamedDataset out = stream_files(files, files.graph, weights);
  out.nodes.name = name_of_path(files.graph);
  return out;
}

namespace {

bool is_own_graph(const std::string& folder) {
  if (tables_reader.recognise(folder)) return false;
  const auto has = [&](const std::vector<std::string>& names) { return !present(folder, names).empty(); };
  return has(features_names) || (has(graph_names) && has(labels_names));
}

OwnGraphFiles files_of(const std::string& folder) {
  OwnGraphFiles files;
  files.graph = only_one(folder, "graph", graph_names);
  files.features = only_one(folder, "features", features_names);
  files.labels = only_one(folder, "labels", labels_names);
  const bool has_table = !present(folder, {"splits.csv"}).empty();
  const std::vector<std::string> masks = present(folder, mask_names);
  if (has_table && !masks.empty())
    refuse(fmt::format("splits.csv and {}", fmt::join(masks, ", ")), folder, "keep one or the other");
  if (has_table) files.splits = (fs::path(folder) / "splits.csv").string();
  if (!masks.empty()) files.splits = folder;
  return files;
}

RawDataset read_own_graph(const std::string& folder) {
  RawDataset set = read_files(files_of(folder), folder);
  set.name = name_of_path(folder);
  check(set);
  return set;
}

StreamedDataset stream_own_graph(const std::string& folder, EdgeWeights weights) {
  StreamedDataset out = stream_files(files_of(folder), folder, weights);
  out.nodes.name = name_of_path(folder);
  return out;
}

}  // namespace

const Reader own_graph_reader = {"your own graph", "features.csv or features.npy",
                                 is_own_graph,     read_own_graph,
                                 nullptr,          stream_own_graph};

}  // namespace eignn
