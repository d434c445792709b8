// A user's own tables in a folder:
//
//   the nodes   nodes.csv or nodes.tsv, or several files nodes*.csv, nodes*.tsv, joined by id
//   (node_tables.cpp) the edges   one of edges.csv, edges.tsv, edges.txt (edge_table.cpp)
//
// Nodes are numbered in the order of the files about them, nodes.csv first and the others by name; those that
// occur in edges alone come last, and have neither features nor labels. Without features the set has those of
// the graph itself, which are made later.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "data/atomic_file.h"
#include "data/edge_table.h"
#include "data/folder_files.h"
#include "data/node_tables.h"
#include "data/readers.h"
#include "data/text_lines.h"

namespace eignn {

const char* name(ColumnRole role) {
  switch (role) {
    case ColumnRole::id:
      return "id";
    case ColumnRole::source:
      return "source";
    case ColumnRole::target:
      return "target";
    case ColumnRole::weight:
      return "weight";
    case ColumnRole::label:
      return "label";
    case ColumnRole::split:
      return "split";
    case ColumnRole::numbers:
      return "numbers";
    case ColumnRole::category:
      return "category";
    case ColumnRole::text:
      return "text";
    case ColumnRole::ignored:
      return "ignored";
  }
  return "";
}

TableOptions TableOptions::from(const TrainConfig& config) {
  const auto names = [](const std::string& list) {
    std::vector<std::string> out;
    for (size_t from = 0; from <= list.size();) {
      const size_t to = std::min(list.find(',', from), list.size());
      const std::string_view word = trimmed(std::string_view(list).substr(from, to - from));
      if (!word.empty()) out.emplace_back(word);
      from = to + 1;
    }
    return out;
  };
  TableOptions out;
  out.label = names(config.label);
  out.ignore_columns = names(config.ignore_columns);
  out.task = config.task;
  out.edge_weights = config.edge_weights;
  return out;
}

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> edge_files = {"edges.csv", "edges.tsv", "edges.txt"};

// nodes.csv, nodes-ages.csv, nodes_2.tsv; nodes.csv first.
std::vector<std::string> node_files(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code unreadable;
  if (!fs::is_directory(folder, unreadable)) return out;
  for (const char* extension : {".csv", ".tsv"})
    for (const std::string& stem : stems_in(folder, extension))
      if (stem.compare(0, 5, "nodes") == 0 && (stem.size() == 5 || stem[5] == '-' || stem[5] == '_' ||
                                               stem[5] == '.' || (stem[5] >= '0' && stem[5] <= '9')))
        out.push_back(stem + extension);
  std::sort(out.begin(), out.end(), [](const std::string& a, const std::string& b) {
    const bool a_first = a == "nodes.csv" || a == "nodes.tsv", b_first = b == "nodes.csv" || b == "nodes.tsv";
    return a_first != b_first ? a_first : a < b;
  });
  return out;
}

bool is_tables(const std::string& folder) {
  return !node_files(folder).empty();
}

std::string edge_file(const std::string& folder) {
  std::vector<std::string> found;
  for (const std::string& name : edge_files)
    if (file_exists((fs::path(folder) / name).string())) found.push_back(name);
  if (found.empty())
    refuse("no file with the edges", folder, fmt::format("add one of {}", fmt::join(edge_files, ", ")));
  if (found.size() > 1)
    refuse(fmt::format("{} files with the edges: {}", found.size(), fmt::join(found, ", ")), folder,
           "keep one of them");
  return (fs::path(folder) / found[0]).string();
}

std::string read_table(const std::string& path) {
  std::string text = read_whole_file(path);
  const std::string_view start = std::string_view(text).substr(0, 4);
  if (start == "PK\x03\x04" || start == "\xd0\xcf\x11\xe0")
    refuse("this is a spreadsheet or an archive, not text", path, "save it as CSV in UTF-8");
  if (text.find('\0') != std::string::npos)
    refuse("this is no text in UTF-8: it has bytes of zero", path, "save it as CSV in UTF-8");
  return text;
}

// The parts of the older layout, which these files would leave unread.
void refuse_other_layout(const std::string& folder) {
  for (const char* other : {"features.csv", "features.npy", "labels.csv", "labels.npy", "splits.csv",
                            "train_masks.npy", "graph.mtx", "graph.npz", "edges.npy"})
    if (file_exists((fs::path(folder) / other).string())) {
      const std::string stem = fs::path(other).stem().string();
      const bool table = fs::path(other).extension() == ".csv";
      refuse(fmt::format("{} beside a file of nodes", other), folder,
             table ? fmt::format("give it a column id and call it nodes-{}.csv, or move it away", stem)
                   : "move it away: here nodes*.csv and edges.csv have everything");
    }
}

// Edges between nodes that nobody knows mean that the two files write ids in different ways.
void check_shared_ids(const TextPool& ids, int64_t of_nodes, const ArcList& arcs, const std::string& nodes,
                      const std::string& edges) {
  if (arcs.source.empty() || of_nodes == 0) return;
  const auto known = [&](int64_t node) { return node < of_nodes; };
  if (std::any_of(arcs.source.begin(), arcs.source.end(), known) ||
      std::any_of(arcs.target.begin(), arcs.target.end(), known))
    return;
  refuse(
      fmt::format("no end of an edge is a node of {}: here they are called {}, and there {}",
                  fs::path(nodes).filename().string(), quote(ids.text(arcs.source[0])), quote(ids.text(0))),
      edges, "write the ids in the same way in both");
}

std::vector<std::string> node_names_of(const TextPool& ids) {
  bool are_numbers = true;
  for (int64_t k = 0; k < ids.count() && are_numbers; ++k) are_numbers = ids.text(k) == std::to_string(k);
  std::vector<std::string> out;
  if (are_numbers) return out;
  out.reserve(static_cast<size_t>(ids.count()));
  for (int64_t k = 0; k < ids.count(); ++k) out.emplace_back(ids.text(k));
  return out;
}

// What was asked to be left out and is nowhere: a slip of the pen, or a table of other data.
void tell_unknown_columns(const TableOptions& options, std::vector<ColumnReport>* report) {
  for (const std::string& name : options.ignore_columns)
    if (std::none_of(report->begin(), report->end(), [&](const auto& row) { return row.column == name; }))
      report->push_back({"", name, ColumnRole::ignored, 0, "in none of the files"});
}

RawDataset read_tables(const std::string& folder, const TableOptions& options) {
  refuse_other_layout(folder);
  const std::string edges = edge_file(folder);
  std::vector<NodeFile> files;
  for (const std::string& name : node_files(folder)) {
    const std::string path = (fs::path(folder) / name).string();
    files.push_back({path, read_table(path)});
  }
  RawDataset set;
  set.name = name_of_path(folder);
  set.format = tables_format;
  set.path = folder;
  const std::string nodes_path = files[0].path;
  TextPool ids;
  NodeTables nodes(std::move(files), options, &ids);
  const int64_t of_nodes = ids.count();
  EdgeTable table = parse_edge_table(read_table(edges), edges, options, &ids);
  check_shared_ids(ids, of_nodes, table.arcs, nodes_path, edges);
  set.arcs = std::move(table.arcs);
  set.arcs.nodes = ids.count();
  set.node_names = node_names_of(ids);
  nodes.take(ids.count(), &set);
  if (const int64_t alone = ids.count() - of_nodes; alone > 0)
    table.report[0].note +=
        fmt::format("; {} node{} in edges alone, without features or label", alone, alone == 1 ? "" : "s");
  set.report.insert(set.report.end(), table.report.begin(), table.report.end());
  tell_unknown_columns(options, &set.report);
  check(set);
  return set;
}

RawDataset read_tables_as_they_are(const std::string& folder) {
  return read_tables(folder, {});
}

}  // namespace

const Reader tables_reader = {"tables", "nodes.csv or nodes.tsv", is_tables, read_tables_as_they_are,
                              read_tables};

}  // namespace eignn
