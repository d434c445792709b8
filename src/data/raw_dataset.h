// A data set as read from files, before it is converted to tensors; all readers return it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/arc_list.h"
#include "data/npy.h"
#include "data/sparse_rows.h"
#include "data/text_lines.h"
#include "eignn/table.h"

namespace eignn {

/// Node indices, ascending.
struct NodeSplit {
  std::vector<int64_t> train, val, test;
};

/// The format of data sets that were read from tables.
inline constexpr const char* tables_format = "tables";

struct RawDataset {
  std::string name;    ///< the file's or folder's own, without path and extension
  std::string format;  ///< for people: "Geom-GCN text"
  std::string path;    ///< where it was read, for messages
  ArcList arcs;        ///< as the file has them; `arcs.nodes` is n
  Array features;      ///< (n, d), any number type; of a table float64, see FeatureColumn
  /// The features where they stay a list; `features` then has their shape and no bytes.
  std::optional<SparseRows> entries;

  // Of a table.
  std::vector<FeatureColumn> columns;    ///< of the features; empty: they are numbers without gaps
  std::vector<std::string> node_names;   ///< empty: nodes are called by their numbers
  std::vector<std::string> class_names;  ///< of classes, labels or targets; empty: called by their numbers
  std::vector<ColumnReport> report;
  std::string why_unlabelled;  ///< not empty: there are no labels, for this reason

  // One label a node …
  std::vector<int64_t> labels;  ///< (n,): 0 … classes-1, or -1 where it is not known; empty when multi-label
  // … or a set of labels a node.
  std::vector<uint8_t> label_sets;  ///< (n, classes) row by row, 0 or 1; empty when there is one label a node
  std::vector<uint8_t> known;       ///< (n,): 1 where the row of label_sets is known; empty: everywhere
  // … or numbers to predict.
  std::vector<double> targets;  ///< (n, classes) row by row, a row of NaN where they are not known
  int64_t classes = 0;

  std::vector<int64_t> graph_of;  ///< (n,): which graph a node is of, from 0; empty: there is one graph
  std::vector<NodeSplit> splits;  ///< empty: the files have none

  int64_t nodes() const { return arcs.nodes; }
  bool multi_label() const { return !label_sets.empty(); }
  bool is_regression() const { return !targets.empty(); }
  bool is_labelled() const { return why_unlabelled.empty(); }
};

/// Throws a DataError for the first inconsistency: no node, an arc to a node that does not exist, sizes that
/// differ, a feature that is not finite, a label out of range, an arc between two graphs, a split with a node
/// out of range or in two parts, a split without nodes to train, validate or test on. Every reader calls it
/// at the end.
void check(const RawDataset& set);

/// DataError for the first feature of a dense array that is not a finite number; row 0 is the node
/// `first_node`.
void check_finite(const Array& features, int64_t first_node = 0);

/// The number of classes of single labels: the largest label plus one.
int64_t count_classes(const std::vector<int64_t>& labels);

/// The name of a set: the last part of its path, without the extension of a file.
std::string name_of_path(const std::string& path);

/// The split given by three masks (n,); a node is in a part where the mask is not zero. `origin` names the
/// masks in messages. Parts that overlap or are empty are refused here, where their file is known.
NodeSplit split_of_masks(const std::vector<uint8_t>& train, const std::vector<uint8_t>& val,
                         const std::vector<uint8_t>& test, int64_t nodes, const Where& origin);

}  // namespace eignn
