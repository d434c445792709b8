// The compact format: one .npz file, or a folder with the same arrays as .npy files (what unzip makes of it).
// It is the layout of the data sets of "A critical look at the evaluation of GNNs under heterophily"
// (Platonov et al. 2023), so that those files are read as they are, with a few arrays more. n nodes, d
// features:
//
//   edges           (E, 2) integers   the arcs, source and target, 0-based; loops and repeats are kept
//   edge_weight     (E,) numbers      optional: the weight of each arc, finite and not negative
//   node_features   (n, d) numbers    any number type; or, in its place, a sparse matrix in CSR, as scipy has
//   it: node_features_data, node_features_indices, node_features_indptr, node_features_shape node_labels (n,)
//   integers     the class of each node, 0, 1, …, or -1 where it is not known; or
//                   (n, c) 0 and 1    the set of labels of each node, of c
//   labels_known    (n,) bool         optional: false where the labels of a node are not known
//   graph_id        (n,) integers     optional: which graph a node is of; any ids, renumbered in their order
//   train_masks     (k, n) bool       optional, all three or none: the nodes of the part in each of k splits;
//   val_masks       (k, n) bool       (n,) is one split
//   test_masks      (k, n) bool
//
// Masks may be integers: a node is in the part where the entry is not zero. Arrays may be in C or Fortran
// order. The number of classes is the largest label plus one. Other arrays are ignored.
//
// write_compact() writes compressed arrays in C order: edges, labels and graph ids as int32 where that
// suffices and else int64; weights as float64; features as uint8 where all are whole numbers from 0 to 255
// and else in their own type; sets of labels as uint8; the rest as bool.
#include "data/compact.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "data/atomic_file.h"
#include "data/dense_features.h"
#include "data/disk_space.h"
#include "data/edge_weights.h"
#include "data/graph_file.h"
#include "data/mask_splits.h"
#include "data/named_arrays.h"
#include "data/readers.h"
#include "data/text_lines.h"

namespace eignn {
namespace {

[[noreturn]] void refuse_shape(const Array& array, const char* expected) {
  refuse(fmt::format("the shape ({}), not {}", fmt::join(array.shape, ", "), expected), array.origin,
         "save it in that shape");
}

// An optional (n,) array.
std::optional<Array> read_one_per_node(const NamedArrays& arrays, const std::string& name, int64_t nodes) {
  if (!arrays.has(name)) return std::nullopt;
  Array array = arrays.read(name);
  if (array.shape != std::vector<int64_t>{nodes}) refuse_shape(array, fmt::format("({},)", nodes).c_str());
  return array;
}

void read_labels(const NamedArrays& arrays, RawDataset* set) {
  const Array labels = arrays.read("node_labels");
  const auto& shape = labels.shape;
  if (shape.empty() || shape.size() > 2 || shape[0] != set->nodes() || (shape.size() == 2 && shape[1] == 0))
    refuse_shape(labels, fmt::format("({0},) or ({0}, c)", set->nodes()).c_str());
  const auto known = read_one_per_node(arrays, "labels_known", set->nodes());
  if (shape.size() == 2) {
    set->label_sets = labels.as<uint8_t>();
    set->classes = shape[1];
    if (known) set->known = known->nonzero();
    return;
  }
  set->labels = labels.as<int64_t>();
  if (known) {
    const std::vector<uint8_t> is_known = known->nonzero();
    for (size_t v = 0; v < is_known.size(); ++v)
      if (is_known[v] == 0) set->labels[v] = -1;
  }
  set->classes = count_classes(set->labels);
}

std::vector<int64_t> renumbered(std::vector<int64_t> ids) {
  std::vector<int64_t> distinct = ids;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  for (int64_t& id : ids) id = std::lower_bound(distinct.begin(), distinct.end(), id) - distinct.begin();
  return ids;
}

// Features in CSR, as scipy has it. Those that need not stay a list become dense, so that a set is read the
// same in either form.
void read_listed_features(const NamedArrays& arrays, RawDataset& set) {
  const Array shape = arrays.read("node_features_shape"), indptr = arrays.read("node_features_indptr"),
              indices = arrays.read("node_features_indices"), data = arrays.read("node_features_data");
  if (shape.size() != 2) refuse("not two numbers", shape.origin, "give rows and columns");
  const std::vector<int64_t> sizes = shape.as<int64_t>();
  SparseRows rows{indptr.as<int64_t>(), indices.as<int64_t>(), data.as<double>()};
  const auto entries = static_cast<int64_t>(rows.column.size());
  const bool consistent = sizes[0] >= 0 && sizes[1] >= 0 &&
                          static_cast<int64_t>(rows.begin.size()) == sizes[0] + 1 &&
                          rows.begin.front() == 0 && rows.begin.back() == entries &&
                          std::is_sorted(rows.begin.begin(), rows.begin.end()) && data.size() == entries;
  if (!consistent)
    refuse(fmt::format("{} row starts, {} indices and {} values are no matrix of {} x {}", rows.begin.size(),
                       entries, data.size(), sizes[0], sizes[1]),
           indptr.origin, "save the matrix again, as CSR");
  for (const int64_t column : rows.column)
    if (column < 0 || column >= sizes[1])
      refuse(fmt::format("an entry in column {} of {}", column, sizes[1]), indices.origin,
             "save the matrix again, as CSR");
  set.features.shape = sizes;
  set.features.origin = data.origin;
  take_listed_features(set, sorted_rows(std::move(rows), sizes[1], data.origin),
                       data.bytes.size() + indices.bytes.size());
}

RawDataset from_arrays(const NamedArrays& arrays) {
  RawDataset set;
  set.name = name_of_path(arrays.path());
  set.format = arrays.is_folder() ? "compact folder" : "compact npz";
  set.path = arrays.path();
  if (arrays.has("node_features_indptr"))
    read_listed_features(arrays, set);
  else
    set.features = arrays.read("node_features");
  if (set.features.shape.size() != 2) refuse_shape(set.features, "(n, d)");
  if (set.features.shape[0] == 0) refuse("there are no nodes", set.features.origin, "give at least one row");
  const Array edges = arrays.read("edges");
  set.arcs = arcs_of_edges(edges);
  if (arrays.has("edge_weight")) set_weights(set.arcs, arrays.read("edge_weight"));
  set.arcs.nodes = set.features.shape[0];
  check_node_range(set.arcs, set.nodes(), edges.origin);
  read_labels(arrays, &set);
  const auto graph_id = read_one_per_node(arrays, "graph_id", set.nodes());
  if (graph_id) set.graph_of = renumbered(graph_id->as<int64_t>());
  set.splits = read_mask_splits(arrays, set.nodes());
  check(set);
  return set;
}

Array whole_numbers(const std::vector<int64_t>& shape, const std::vector<int64_t>& values) {
  const auto fits = [](int64_t value) {
    return value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max();
  };
  return std::all_of(values.begin(), values.end(), fits)
             ? array_of(shape, std::vector<int32_t>(values.begin(), values.end()))
             : array_of(shape, values);
}

Array flags(const std::vector<int64_t>& shape, const std::vector<uint8_t>& values) {
  Array array = array_of(shape, values);
  array.type = ElementType::boolean;
  return array;
}

Array masks_of(const RawDataset& set, std::vector<int64_t> NodeSplit::*part) {
  const auto k = static_cast<int64_t>(set.splits.size()), n = set.nodes();
  std::vector<uint8_t> masks(k * n, 0);
  for (int64_t row = 0; row < k; ++row)
    for (const int64_t v : set.splits[row].*part) masks[row * n + v] = 1;
  return flags({k, n}, masks);
}

// Calls add(name, array) for each array of the set.
template <class Add>
void each_array(const RawDataset& set, Add add) {
  const int64_t n = set.nodes();
  std::vector<int64_t> edges;
  edges.reserve(2 * set.arcs.source.size());
  for (size_t k = 0; k < set.arcs.source.size(); ++k) {
    edges.push_back(set.arcs.source[k]);
    edges.push_back(set.arcs.target[k]);
  }
  add("edges", whole_numbers({static_cast<int64_t>(set.arcs.source.size()), 2}, edges));
  if (!set.arcs.weight.empty() && !set.arcs.weight_on_request)
    add("edge_weight", array_of({static_cast<int64_t>(set.arcs.weight.size())}, set.arcs.weight));
  if (set.entries) {
    const SparseRows& rows = *set.entries;
    const auto entries = static_cast<int64_t>(rows.column.size());
    add("node_features_shape", array_of<int64_t>({2}, set.features.shape));
    add("node_features_indptr", whole_numbers({n + 1}, rows.begin));
    add("node_features_indices", whole_numbers({entries}, rows.column));
    add("node_features_data", as_bytes_if_exact(array_of({entries}, rows.value)));
  } else {
    add("node_features", as_bytes_if_exact(set.features));
  }
  if (set.multi_label())
    add("node_labels", array_of({n, set.classes}, set.label_sets));
  else
    add("node_labels", whole_numbers({n}, set.labels));
  if (!set.known.empty()) add("labels_known", flags({n}, set.known));
  if (!set.graph_of.empty()) add("graph_id", whole_numbers({n}, set.graph_of));
  if (set.splits.empty()) return;
  add("train_masks", masks_of(set, &NodeSplit::train));
  add("val_masks", masks_of(set, &NodeSplit::val));
  add("test_masks", masks_of(set, &NodeSplit::test));
}

}  // namespace

RawDataset parse_compact(std::string_view archive, const std::string& origin) {
  return from_arrays(NamedArrays(archive, origin));
}

namespace {

// An archive packs: arcs to a tenth at most, features that are nearly all zero to a hundredth. How far is not
// known before, so that only what cannot fit is refused.
double least_bytes(const RawDataset& set, bool packed) {
  const auto arcs = static_cast<double>(set.arcs.source.size()), n = static_cast<double>(set.nodes());
  const double of_arcs =
      arcs * 2 * sizeof(int32_t) +
      (set.arcs.weight_on_request ? 0.0 : sizeof(double) * static_cast<double>(set.arcs.weight.size()));
  const double of_features = set.entries ? 5 * static_cast<double>(set.entries->column.size())
                                         : static_cast<double>(set.features.size());
  const double of_nodes = of_features + n + 3 * n * static_cast<double>(set.splits.size());
  return packed ? of_arcs / 10 + of_nodes / 100 : of_arcs + of_nodes;
}

}  // namespace

void write_compact(const RawDataset& set, const std::string& path) {
  if (set.format == tables_format)
    refuse("tables have names, gaps and categories, and this format has none", set.path,
           "use the tables as they are");
  check(set);
  const std::string_view extension = ".npz";
  const bool packed =
      path.size() > extension.size() && path.substr(path.size() - extension.size()) == extension;
  require_space_for_file(path, least_bytes(set, packed), "the data set");
  if (packed) {
    NpzWriter archive(path);
    each_array(set, [&](const char* name, const Array& array) {
      archive.add(name, array.type, array.shape, array.bytes.data());
    });
    archive.commit();
    return;
  }
  AtomicFolder folder(path);
  each_array(set, [&](const char* name, const Array& array) {
    write_npy(folder.path(fmt::format("{}.npy", name)), array.type, array.shape, array.bytes.data());
  });
  folder.commit();
}

namespace {

bool is_compact(const std::string& path) {
  if (!is_named_arrays(path)) return false;
  const NamedArrays arrays(path);
  return arrays.has("edges") &&
         (arrays.has("node_features") || arrays.has("node_labels") || arrays.has("node_features_indptr"));
}

RawDataset read_compact(const std::string& path) {
  return from_arrays(NamedArrays(path));
}

}  // namespace

const Reader compact_reader = {"compact", "node_features and edges in an .npz or a folder", is_compact,
                               read_compact};

}  // namespace eignn
