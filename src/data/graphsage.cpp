// GraphSAGE's layout: a folder with the files of one PREFIX
//
//   PREFIX-G.json          node-link JSON (node_link.cpp); each node has "val" and "test", true or false
//   PREFIX-id_map.json     {"id": row, ...}: the rows 0 … n-1, each once
//   PREFIX-class_map.json  {"id": class, ...} or {"id": [0, 1, 0, ...], ...}: one label or a set of labels
//   PREFIX-feats.npy       (n, d), in the order of the rows
//
// The three JSON files must have the same nodes. An id is a whole number or a text; as a key, 7 is "7". Nodes
// are numbered by id_map. A node with neither "val" nor "test" true is in train; both true is refused. Other
// keys (GraphSAGE's own files repeat features and labels in G.json) are skipped. The files do not say which
// nodes make up a graph, so the set is one graph.
//
// The source and target of a link are positions in the list of nodes or ids. GraphSAGE's files come from
// networkx 1, which writes positions, so they are taken as positions when all of them are whole numbers below
// n, whatever the ids are. When one is a text or a number that is no position, or when the list is called
// "edges" (networkx 3.4 and later), all are ids. For a file of networkx 2 whose ids are 0 … n-1, listed in
// that order, both are the same.
#include "data/readers.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "data/atomic_file.h"
#include "data/folder_files.h"
#include "data/keyed_numbers.h"
#include "data/node_link.h"
#include "data/text_lines.h"

namespace eignn {
namespace {

constexpr const char* graph_suffix = "-G.json";
constexpr const char* same_nodes = "the three JSON files must name the same nodes";

KeyedNumbers read_keyed_numbers(const std::string& path) {
  return parse_keyed_numbers(read_whole_file(path), path);
}

// The row of each node of the graph.
std::vector<int64_t> rows_of(const NodeLinkGraph& graph, const std::string& graph_path,
                             const KeyedNumbers& id_map, const std::string& id_map_path) {
  if (id_map.lists) refuse("a list instead of a row", at_key(id_map_path, id_map.keys[0]), "give one row");
  const auto n = static_cast<int64_t>(id_map.keys.size());
  std::vector<uint8_t> taken(id_map.keys.size(), 0);
  for (size_t k = 0; k < id_map.keys.size(); ++k) {
    const int64_t row = id_map.numbers[k];
    const auto fail = [&](const std::string& what) {
      refuse(what, at_key(id_map_path, id_map.keys[k]), fmt::format("use 0 to {}, each once", n - 1));
    };
    if (row < 0 || row >= n) fail(fmt::format("the row {} of {}", row, n));
    if (taken[row]++ != 0) fail(fmt::format("the row {} is taken", row));
  }

  std::vector<int64_t> rows;
  std::vector<uint8_t> has_node(id_map.keys.size(), 0);
  for (const int64_t id : graph.ids) {
    const std::string key = graph.spelled(id);
    const auto found = id_map.place.find(key);
    const auto where = [&] { return Where(graph_path, fmt::format("nodes[{}]", rows.size())); };
    if (found == id_map.place.end())
      refuse(fmt::format("the node {} has no row in {}", quote(key), id_map_path), where(), same_nodes);
    if (has_node[found->second]++ != 0)  // 7 and "7"
      refuse(fmt::format("the id {} comes twice", quote(key)), where(), "give each node an id of its own");
    rows.push_back(id_map.numbers[found->second]);
  }
  for (size_t k = 0; k < id_map.keys.size(); ++k)
    if (has_node[k] == 0)
      refuse("no such node in " + graph_path, at_key(id_map_path, id_map.keys[k]), same_nodes);
  return rows;
}

ArcList arcs_of(const NodeLinkGraph& graph, const std::string& path, const std::vector<int64_t>& row) {
  const int64_t n = graph.nodes();
  const auto is_position = [&](int64_t end) { return end >= 0 && end < n; };
  const bool positions = !graph.links_are_named_edges &&
                         std::all_of(graph.source.begin(), graph.source.end(), is_position) &&
                         std::all_of(graph.target.begin(), graph.target.end(), is_position);
  std::unordered_map<int64_t, int64_t> row_of_id;
  if (!positions)
    for (size_t k = 0; k < row.size(); ++k) row_of_id[graph.ids[k]] = row[k];
  const auto row_of_end = [&](int64_t end, size_t link) {
    if (positions) return row[end];
    const auto found = row_of_id.find(end);
    if (found == row_of_id.end())
      refuse(
          fmt::format("{} is neither a position below {} nor the id of a node", quote(graph.spelled(end)), n),
          {path, fmt::format("{}[{}]", graph.links_are_named_edges ? "edges" : "links", link)},
          "link nodes that are there, by position or all by id");
    return found->second;
  };
  ArcList arcs;
  arcs.nodes = n;
  for (size_t k = 0; k < graph.source.size(); ++k) {
    arcs.source.push_back(row_of_end(graph.source[k], k));
    arcs.target.push_back(row_of_end(graph.target[k], k));
  }
  return arcs;
}

void set_labels(const KeyedNumbers& class_map, const std::string& path, const KeyedNumbers& id_map,
                RawDataset* set) {
  const size_t n = id_map.keys.size();
  for (const std::string& key : class_map.keys)
    if (id_map.place.count(key) == 0) refuse("no such node in the graph", at_key(path, key), same_nodes);
  const size_t width = n == 0 || class_map.keys.empty() ? 0 : class_map.begin[1];
  if (class_map.lists) {
    if (width == 0) refuse("no labels", at_key(path, class_map.keys[0]), "give at least one");
    set->classes = static_cast<int64_t>(width);
    set->label_sets.resize(class_map.keys.size() * width);
  } else {
    set->labels.resize(class_map.keys.size());
  }
  for (size_t k = 0; k < n; ++k) {
    const std::string& id = id_map.keys[k];
    const auto found = class_map.place.find(id);
    if (found == class_map.place.end()) refuse(fmt::format("no key {}", quote(id)), path, same_nodes);
    const size_t begin = class_map.begin[found->second], end = class_map.begin[found->second + 1];
    const auto row = static_cast<size_t>(id_map.numbers[k]);
    if (!class_map.lists) {
      const int64_t label = class_map.numbers[begin];
      if (label < -1 || label >= static_cast<int64_t>(n))  // memory grows with the number of classes
        refuse(fmt::format("the class {} among {} nodes", label, n), at_key(path, id),
               "number the classes from 0, and use -1 where it is not known");
      set->labels[row] = label;
      set->classes = std::max(set->classes, label + 1);
      continue;
    }
    if (end - begin != width)
      refuse(fmt::format("{} labels, but {} for {}", end - begin, width, quote(class_map.keys[0])),
             at_key(path, id), "give each node a list of the same length");
    for (size_t j = 0; j < width; ++j) {
      const int64_t bit = class_map.numbers[begin + j];
      if (bit != 0 && bit != 1)
        refuse(fmt::format("label {} is {}", j, bit), at_key(path, id), "use 0 and 1");
      set->label_sets[row * width + j] = static_cast<uint8_t>(bit);
    }
  }
}

NodeSplit split_of(const NodeLinkGraph& graph, const std::string& path, const std::vector<int64_t>& row) {
  const size_t n = row.size();
  std::vector<uint8_t> train(n), val(n), test(n);
  for (size_t k = 0; k < n; ++k) {
    for (const auto& [key, flag] : {std::pair{"val", graph.val[k]}, {"test", graph.test[k]}})
      if (flag == NodeLinkGraph::not_stated)
        refuse(fmt::format("no true or false under '{}'", key), {path, fmt::format("nodes[{}]", k)},
               "say of each node whether it is for validation and whether for test");
    val[row[k]] = graph.val[k];
    test[row[k]] = graph.test[k];
    train[row[k]] = graph.val[k] == 0 && graph.test[k] == 0 ? 1 : 0;
  }
  return split_of_masks(train, val, test, graph.nodes(), path);
}

bool is_graphsage(const std::string& folder) {
  return stems_in(folder, graph_suffix).size() == 1;
}

RawDataset read_graphsage(const std::string& folder) {
  const std::vector<std::string> prefixes = stems_in(folder, graph_suffix);
  if (prefixes.size() != 1)
    refuse(fmt::format("{} files *-G.json", prefixes.size()), folder, "give a folder with exactly one");
  RawDataset set;
  set.name = prefixes[0];
  set.format = "GraphSAGE folder";
  set.path = folder;
  const std::string prefix = folder + "/" + set.name;
  const std::string graph_path = prefix + graph_suffix, id_map_path = prefix + "-id_map.json",
                    class_map_path = prefix + "-class_map.json";

  const NodeLinkGraph graph = parse_node_link(read_whole_file(graph_path), graph_path);
  if (graph.nodes() == 0) refuse("the graph has no nodes", graph_path, "give at least one");
  const KeyedNumbers id_map = read_keyed_numbers(id_map_path);
  const std::vector<int64_t> row = rows_of(graph, graph_path, id_map, id_map_path);
  set.arcs = arcs_of(graph, graph_path, row);
  set.features = read_npy(prefix + "-feats.npy");
  set_labels(read_keyed_numbers(class_map_path), class_map_path, id_map, &set);
  set.splits.push_back(split_of(graph, graph_path, row));
  check(set);
  return set;
}

}  // namespace

const Reader graphsage_reader = {"GraphSAGE", "one *-G.json", is_graphsage, read_graphsage};

}  // namespace eignn
