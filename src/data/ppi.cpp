// PPI as DGL and PyG unpack it: one folder, and for each PART of train, valid and test
//
//   PART_graph.json        node-link JSON (node_link.cpp): ids 0 … n-1 in any order, links between ids
//   PART_feats.npy         (n, d), numbers; row v is that of the node with the id v, here and below
//   PART_labels.npy        (n, c), numbers of any type, 0 or 1
//   PART_graph_id.npy      (n,), whole numbers of any type: which graph a node is of
//   PART_labels_known.npy  (n,), 0 or 1: whether a row of labels is known; may be missing: all are
//
// The three become one set, nodes of train first and of test last, and the parts are its only split; each
// lists all its nodes, known or not. Graphs are numbered from 0 by part, then by id: the same id in two parts
// is two graphs, and a graph's nodes need not stand together. An undirected link is one arc, as in the file.
#include "data/readers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "data/atomic_file.h"
#include "data/folder_files.h"
#include "data/node_link.h"
#include "data/text_lines.h"
#include "data/whole_value.h"

namespace eignn {
namespace {

constexpr const char* parts[] = {"train", "valid", "test"};

bool is_float(ElementType type) {
  return type == ElementType::float32 || type == ElementType::float64;
}

// The elements, stored in any type, as whole numbers.
std::vector<int64_t> whole_numbers(const Array& array) {
  if (!is_float(array.type)) return array.as<int64_t>();
  const std::vector<double> values = array.as<double>();
  std::vector<int64_t> out(values.size());
  for (size_t k = 0; k < values.size(); ++k) {
    const auto whole = whole_value(values[k]);
    if (!whole)
      refuse(fmt::format("element {} is {}, not a whole number", k, values[k]), array.origin,
             "save whole numbers");
    out[k] = *whole;
  }
  return out;
}

// Appends the elements, each 0 or 1.
void append_bits(const Array& array, std::vector<uint8_t>* out) {
  const std::vector<int64_t> values = whole_numbers(array);
  for (size_t k = 0; k < values.size(); ++k)
    if (values[k] != 0 && values[k] != 1)
      refuse(fmt::format("element {} is {}", k, values[k]), array.origin, "use 0 and 1");
  out->insert(out->end(), values.begin(), values.end());
}

// Reads PART_NAME.npy, which has `rank` dimensions, the first of them n.
Array read_rows(const std::string& prefix, const char* file, size_t rank, int64_t n) {
  Array array = read_npy(prefix + file);
  if (array.shape.size() != rank || array.shape[0] != n)
    refuse(
        fmt::format("the shape is ({}), but the part's graph has {} nodes", fmt::join(array.shape, ", "), n),
        array.origin, fmt::format("save the shape ({}, {})", n, rank == 1 ? "" : "columns"));
  return array;
}

// All parts have as many columns of features, and of labels, as the first.
void check_columns(const Array& array, int64_t expected) {
  if (array.shape[1] != expected)
    refuse(fmt::format("{} columns, but {} in the part before", array.shape[1], expected), array.origin,
           "save the same columns for each part");
}

void append_arcs(const std::string& prefix, ArcList* arcs) {
  const std::string path = prefix + "_graph.json";
  const NodeLinkGraph graph = parse_node_link(read_whole_file(path), path);
  const int64_t n = graph.nodes();
  const std::string ids_needed = fmt::format("number the nodes from 0 to {}", n - 1);
  for (size_t k = 0; k < graph.ids.size(); ++k)  // each once: so they are 0 … n-1
    if (graph.ids[k] < 0 || graph.ids[k] >= n)
      refuse(fmt::format("the id {} among {} nodes", quote(graph.spelled(graph.ids[k])), n),
             {path, fmt::format("nodes[{}]", k)}, ids_needed);
  for (size_t k = 0; k < graph.source.size(); ++k)
    for (const int64_t end : {graph.source[k], graph.target[k]})
      if (end < 0 || end >= n)
        refuse(fmt::format("no node has the id {}", quote(graph.spelled(end))),
               {path, fmt::format("{}[{}]", graph.links_are_named_edges ? "edges" : "links", k)}, ids_needed);
  for (const int64_t v : graph.source) arcs->source.push_back(arcs->nodes + v);
  for (const int64_t v : graph.target) arcs->target.push_back(arcs->nodes + v);
  arcs->nodes += n;
}

// Appends the number of each node's graph. The graphs of a part are new ones, numbered in the order of their
// ids.
void append_graphs(const Array& ids, int64_t* graphs, std::vector<int64_t>* graph_of) {
  const std::vector<int64_t> id_of = whole_numbers(ids);
  std::map<int64_t, int64_t> number;
  for (const int64_t id : id_of) number.emplace(id, 0);
  for (auto& [id, of_id] : number) of_id = (*graphs)++;
  for (const int64_t id : id_of) graph_of->push_back(number[id]);
}

// The rows of all parts: float32 when all are, else float64.
Array stacked(const std::vector<Array>& blocks, int64_t rows, const std::string& origin) {
  Array out;
  out.shape = {rows, blocks.front().shape[1]};
  out.origin = origin;
  const bool single = std::all_of(blocks.begin(), blocks.end(),
                                  [](const Array& block) { return block.type == ElementType::float32; });
  out.type = single ? ElementType::float32 : ElementType::float64;
  for (const Array& block : blocks) {
    if (single) {
      out.bytes.insert(out.bytes.end(), block.bytes.begin(), block.bytes.end());
    } else {
      const std::vector<double> values = block.as<double>();
      const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
      out.bytes.insert(out.bytes.end(), bytes, bytes + values.size() * sizeof(double));
    }
  }
  return out;
}

bool is_ppi(const std::string& folder) {
  return std::any_of(std::begin(parts), std::end(parts), [&](const char* part) {
    return file_exists(fmt::format("{}/{}_graph.json", folder, part));
  });
}

RawDataset read_ppi(const std::string& folder) {
  RawDataset set;
  set.name = name_of_path(folder);
  set.format = "PPI folder";
  set.path = folder;
  set.arcs.nodes = 0;
  int64_t graphs = 0;
  bool some_unknown = false;
  std::vector<Array> features;
  NodeSplit split;
  std::vector<int64_t>* members[] = {&split.train, &split.val, &split.test};
  for (size_t p = 0; p < std::size(parts); ++p) {
    const std::string prefix = folder + "/" + parts[p];
    const int64_t first = set.nodes();
    append_arcs(prefix, &set.arcs);
    const int64_t n = set.nodes() - first;
    members[p]->resize(static_cast<size_t>(n));
    std::iota(members[p]->begin(), members[p]->end(), first);

    features.push_back(read_rows(prefix, "_feats.npy", 2, n));
    check_columns(features.back(), features.front().shape[1]);
    const Array labels = read_rows(prefix, "_labels.npy", 2, n);
    if (p == 0) set.classes = labels.shape[1];
    check_columns(labels, set.classes);
    append_bits(labels, &set.label_sets);
    append_graphs(read_rows(prefix, "_graph_id.npy", 1, n), &graphs, &set.graph_of);
    if (file_exists(prefix + "_labels_known.npy")) {
      some_unknown = true;
      append_bits(read_rows(prefix, "_labels_known.npy", 1, n), &set.known);
    } else {
      set.known.resize(static_cast<size_t>(set.nodes()), 1);
    }
  }
  if (!some_unknown) set.known.clear();
  if (set.classes == 0)
    refuse("the labels have no columns", folder + "/train_labels.npy", "give at least one");
  set.features = stacked(features, set.nodes(), folder + "/*_feats.npy");
  set.splits.push_back(std::move(split));
  check(set);
  return set;
}

}  // namespace

const Reader ppi_reader = {"PPI", "train_graph.json", is_ppi, read_ppi};

}  // namespace eignn
