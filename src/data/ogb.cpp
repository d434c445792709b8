// A node-property set of the Open Graph Benchmark, as its archive unpacks. All files are CSV without a
// header, packed with gzip (edge.csv.gz) or not (edge.csv; it is the one taken when both are there):
//
//   raw/num-node-list.csv, raw/num-edge-list.csv   one number each, a check on the files below
//   raw/edge.csv         source,target of an arc, 0-based
//   raw/node-feat.csv    a row of numbers per node
//   raw/node-label.csv   a row per node: one class, `nan` where it is not known; or columns of 0 and 1
//   split/SCHEME/{train,valid,test}.csv   a node per line
//
// There is one SCHEME, named for how the split was drawn (time, sales_ranking).
// Other files (node_year.csv.gz, mapping/) are left alone.
#include "data/readers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "data/csv.h"
#include "data/folder_files.h"
#include "data/gzip_file.h"
#include "data/text_lines.h"

namespace eignn {
namespace {

namespace fs = std::filesystem;

// The path of a table that is there, packed or not.
std::optional<std::string> find_table(const std::string& folder, const std::string& name) {
  for (const char* extension : {".csv", ".csv.gz"}) {
    const std::string path = (fs::path(folder) / (name + extension)).string();
    if (file_exists(path)) return path;
  }
  return std::nullopt;
}

std::string need_table(const std::string& folder, const std::string& name) {
  if (const auto path = find_table(folder, name)) return *path;
  refuse("a file of the set is missing", (fs::path(folder) / (name + ".csv.gz")).string(),
         "unpack the whole archive of the Open Graph Benchmark");
}

// Calls `take` with a CsvReader at each row of a table.
template <class Take>
void for_each_row(const std::string& path, size_t columns, Take take) {
  TextBlocks blocks(path);
  CsvOptions options;
  options.header = false;
  options.columns = columns;
  while (blocks.next()) {
    options.first_line = blocks.first_line();
    CsvReader rows(blocks.block(), path, options);
    while (rows.next()) take(rows);
    options.columns = rows.columns();
  }
}

int64_t read_count(const std::string& path) {
  int64_t count = -1;
  for_each_row(path, 1, [&](const CsvReader& rows) {
    if (count >= 0) rows.refuse("a second graph", "give a set that is one graph");
    count = rows.whole_number(0);
    if (count < 0) rows.refuse(fmt::format("a count of {}", count), "download it again");
  });
  if (count < 0) refuse("the file is empty", path, "download it again");
  return count;
}

void check_count(const char* what, int64_t found, const std::string& path, int64_t stated,
                 const std::string& stated_in) {
  if (found != stated)
    refuse(fmt::format("{} {}, but {} states {}", found, what, stated_in, stated), path,
           "the file is cut off or of another set: download it again");
}

// Calls take(source, target, line) for each arc.
template <class Take>
void for_each_arc(const std::string& path, int64_t nodes, Take take) {
  for_each_row(path, 2, [&](const CsvReader& rows) {
    int64_t ends[2];
    for (const size_t end : {0U, 1U}) {
      ends[end] = rows.whole_number(end);
      if (ends[end] < 0 || ends[end] >= nodes) {
        rows.refuse(fmt::format("node {} is not one of the {}", ends[end], nodes),
                    fmt::format("use ids >= 0 and < {}", nodes));
      }
    }
    take(ends[0], ends[1], rows.line());
  });
}

ArcList read_arcs(const std::string& path, int64_t nodes) {
  ArcList arcs;
  arcs.nodes = nodes;
  for_each_arc(path, nodes, [&](int64_t source, int64_t target, int64_t) {
    arcs.source.push_back(source);
    arcs.target.push_back(target);
  });
  return arcs;
}

// Appends the row's numbers.
void take_features(const CsvReader& rows, std::vector<float>* values) {
  for (size_t k = 0; k < rows.columns(); ++k) {
    const auto value = static_cast<float>(rows.number(k));
    if (!std::isfinite(value))
      rows.refuse_field(k, quote(rows.field(k)) + " is not in the range of float32", "scale the features");
    values->push_back(value);
  }
}

Array read_features(const std::string& path) {
  std::vector<float> values;
  int64_t row_count = 0;
  size_t columns = 0;
  for_each_row(path, 0, [&](const CsvReader& rows) {
    columns = rows.columns();
    ++row_count;
    take_features(rows, &values);
  });
  Array features = array_of({row_count, static_cast<int64_t>(columns)}, values);
  features.origin = path;
  return features;
}

bool is_unknown(const CsvReader& rows, size_t column) {
  return rows.is_empty(column) || rows.field(column) == "nan" || rows.field(column) == "NaN";
}

// Classes are whole numbers; pandas writes 3.0 for 3 in a column with gaps.
int64_t whole(const CsvReader& rows, size_t column) {
  const double value = rows.number(column);
  if (value != std::floor(value) || std::abs(value) > 1e15)
    rows.refuse_field(column, quote(rows.field(column)) + " is not a whole number",
                      "number the classes from 0");
  return static_cast<int64_t>(value);
}

// One column: labels; several: label_sets. Rows are counted by the caller.
void read_labels(const std::string& path, RawDataset* set) {
  for_each_row(path, 0, [&](const CsvReader& rows) {
    const size_t columns = rows.columns();
    if (columns == 1) {
      const int64_t label = is_unknown(rows, 0) ? -1 : whole(rows, 0);
      if (label < -1) rows.refuse(fmt::format("the label {}", label), "number the classes from 0");
      set->labels.push_back(label);
      return;
    }
    set->classes = static_cast<int64_t>(columns);
    bool known = false;
    for (size_t k = 0; k < columns; ++k) known = known || !is_unknown(rows, k);
    set->known.push_back(known ? 1 : 0);
    for (size_t k = 0; k < columns; ++k) {
      const int64_t value = known ? whole(rows, k) : 0;
      if (value != 0 && value != 1)
        rows.refuse_field(k, fmt::format("{} among several columns of labels", value), "use 0 and 1");
      set->label_sets.push_back(static_cast<uint8_t>(value));
    }
  });
  if (set->classes == 0) set->classes = count_classes(set->labels);
}

std::vector<int64_t> read_part(const std::string& path, int64_t nodes) {
  std::vector<int64_t> part;
  for_each_row(path, 1, [&](const CsvReader& rows) {
    const int64_t node = rows.whole_number(0);
    if (node < 0 || node >= nodes)
      rows.refuse(fmt::format("node {} is not one of the {}", node, nodes),
                  fmt::format("use ids >= 0 and < {}", nodes));
    part.push_back(node);
  });
  std::sort(part.begin(), part.end());
  return part;
}

std::string only_scheme(const std::string& folder) {
  const std::string splits = (fs::path(folder) / "split").string();
  std::vector<std::string> schemes;
  std::error_code unreadable;
  if (fs::is_directory(splits, unreadable))
    for (const std::string& name : names_in_folder(splits))
      if (fs::is_directory(fs::path(splits) / name, unreadable)) schemes.push_back(name);
  if (schemes.empty())
    refuse("no folder with a split", splits, "unpack the whole archive of the Open Graph Benchmark");
  if (schemes.size() > 1)
    refuse(
        fmt::format("{} splits, {} and {} among them", schemes.size(), quote(schemes[0]), quote(schemes[1])),
        splits, "keep the folder of one of them");
  return (fs::path(splits) / schemes[0]).string();
}

bool is_ogb(const std::string& folder) {
  const std::string raw = (fs::path(folder) / "raw").string();
  return find_table(raw, "edge") && find_table(raw, "num-node-list");
}

struct OgbFiles {
  std::string node_count, edge_count, features, edges, labels;
};

OgbFiles files_of(const std::string& folder) {
  const std::string raw = (fs::path(folder) / "raw").string();
  OgbFiles files;
  files.node_count = need_table(raw, "num-node-list");
  files.edge_count = need_table(raw, "num-edge-list");
  if (!find_table(raw, "node-feat")) {
    refuse("the nodes have no features", (fs::path(raw) / "node-feat.csv.gz").string(),
           "sets with features on edges alone, such as ogbn-proteins, cannot be used here");
  }
  files.features = need_table(raw, "node-feat");
  files.edges = need_table(raw, "edge");
  files.labels = need_table(raw, "node-label");
  return files;
}

RawDataset empty_set(const std::string& folder) {
  RawDataset set;
  set.name = name_of_path(folder);
  set.format = "Open Graph Benchmark";
  set.path = folder;
  return set;
}

void check_feature_rows(const OgbFiles& files, int64_t rows, int64_t nodes) {
  check_count("rows of features", rows, files.features, nodes, files.node_count);
}

void check_arc_count(const OgbFiles& files, int64_t arcs) {
  check_count("arcs", arcs, files.edges, read_count(files.edge_count), files.edge_count);
}

void read_labels_and_split(const std::string& folder, const OgbFiles& files, int64_t nodes, RawDataset* set) {
  read_labels(files.labels, set);
  const size_t label_rows = set->multi_label() ? set->known.size() : set->labels.size();
  check_count("rows of labels", static_cast<int64_t>(label_rows), files.labels, nodes, files.node_count);
  const std::string scheme = only_scheme(folder);
  NodeSplit split;
  split.train = read_part(need_table(scheme, "train"), nodes);
  split.val = read_part(need_table(scheme, "valid"), nodes);
  split.test = read_part(need_table(scheme, "test"), nodes);
  set->splits.push_back(std::move(split));
}

RawDataset read_ogb(const std::string& folder) {
  RawDataset set = empty_set(folder);
  const OgbFiles files = files_of(folder);
  const int64_t nodes = read_count(files.node_count);
  set.features = read_features(files.features);
  check_feature_rows(files, set.features.shape[0], nodes);
  set.arcs = read_arcs(files.edges, nodes);
  check_arc_count(files, static_cast<int64_t>(set.arcs.source.size()));
  read_labels_and_split(folder, files, nodes, &set);
  check(set);
  return set;
}

// The number of columns of a table, from its first rows.
int64_t count_columns(const std::string& path) {
  TextBlocks blocks(path);
  if (!blocks.next()) return 0;
  CsvOptions options;
  options.header = false;
  CsvReader rows(blocks.block(), path, options);
  rows.next();
  return static_cast<int64_t>(rows.columns());
}

// The features, some thousand rows at a time.
void each_features(const OgbFiles& files, int64_t nodes, const TakeRows& take) {
  constexpr int64_t together = 1 << 12;
  std::vector<float> values;
  int64_t count = 0, row_count = 0;
  const auto pass_on = [&] {
    if (count > 0) take(reinterpret_cast<const unsigned char*>(values.data()), count);
    values.clear();
    count = 0;
  };
  for_each_row(files.features, 0, [&](const CsvReader& rows) {
    if (++row_count > nodes) return;  // counted below
    take_features(rows, &values);
    if (++count == together) pass_on();
  });
  check_feature_rows(files, row_count, nodes);
  pass_on();
}

void each_arcs(const OgbFiles& files, int64_t nodes, const TakeArcs& take) {
  constexpr size_t together = 1 << 16;
  ArcList arcs;
  std::vector<int64_t> lines;
  int64_t count = 0;
  const auto pass_on = [&] {
    take({arcs, [&](size_t k) { return Where(files.edges, fmt::format("line {}", lines[k])); }});
    count += static_cast<int64_t>(arcs.source.size());
    arcs = {};
    lines.clear();
  };
  for_each_arc(files.edges, nodes, [&](int64_t source, int64_t target, int64_t line) {
    arcs.source.push_back(source);
    arcs.target.push_back(target);
    lines.push_back(line);
    if (lines.size() == together) pass_on();
  });
  pass_on();
  check_arc_count(files, count);
}

StreamedDataset stream_ogb(const std::string& folder, EdgeWeights weights) {
  if (weights == EdgeWeights::use) {
    throw ArgumentError("edge-weights", fmt::format("the arcs of {} have no weights", folder),
                        "leave it out");
  }
  StreamedDataset out;
  out.nodes = empty_set(folder);
  const OgbFiles files = files_of(folder);
  const int64_t nodes = read_count(files.node_count);
  out.nodes.arcs.nodes = nodes;
  out.nodes.features.shape = {nodes, count_columns(files.features)};
  out.nodes.features.type = ElementType::float32;
  out.nodes.features.origin = files.features;
  read_labels_and_split(folder, files, nodes, &out.nodes);
  out.each_features = [files, nodes](const TakeRows& take) { each_features(files, nodes, take); };
  out.each_arcs = [files, nodes](const TakeArcs& take) { each_arcs(files, nodes, take); };
  return out;
}

}  // namespace

const Reader ogb_reader = {"Open Graph Benchmark", "raw/edge.csv.gz", is_ogb, read_ogb, nullptr, stream_ogb};

}  // namespace eignn
