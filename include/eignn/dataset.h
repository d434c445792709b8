// Data sets: a graph with features, labels and splits.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "eignn/graph.h"
#include "eignn/table.h"

namespace eignn {

/// Indices of labelled nodes, int64 (count,) on the CPU.
struct Split {
  torch::Tensor train, val, test;
};

class FeatureTransform;
struct GraphReduction;
struct Spread;

/// One graph, or several disjoint ones: `graph_of` has the graph of each node, and a drawn split then divides
/// the graphs. All tensors are on the CPU.
struct Dataset {
  std::string name;
  std::string format;        // of the files it was read from; empty: built in, or from memory
  Graph graph;               // arcs as in the data; PropagationOptions decide how they are used
  int64_t arcs_in_file = 0;  // including duplicates
  /// float64 (n, m); with `columns`, the table's own values: see FeatureColumn. Dense, or sparse (COO,
  /// coalesced) where nearly all are zero: eignn reads these as they are when F is thin or there is an
  /// encoder.
  torch::Tensor features;
  std::vector<FeatureColumn> columns;  // of a table; empty: the features are numbers without gaps
  /// How the features were made of the data's own, once that is done; null before. `columns` then has names
  /// alone.
  std::shared_ptr<const FeatureTransform> transform;
  std::vector<std::string> node_names;   // empty: nodes are called by their numbers
  std::vector<std::string> class_names;  // empty: classes are called by their numbers
  /// One label per node: int64 (n,), -1 where it is not known. Sets of labels: uint8 (n, classes) of 0 and 1;
  /// rows that are not known are marked in `known`. Numbers to predict: float64 (n, classes), where `classes`
  /// counts the numbers of a node; NaN where they are not known. Undefined: there are none, and no splits.
  torch::Tensor labels;
  torch::Tensor
      known;  // bool (n,): whether the label, or the set of labels, is known; undefined as labels are
  int64_t classes = 0;
  std::vector<int64_t> graph_of;  // (n,): the graph of each node, from 0; empty: there is one graph
  /// With the settings `partition` or `coarsen`: what models see of the graph; null otherwise. Of a partition
  /// `graph_of` then has the parts, while `graph` still has the arcs between them.
  std::shared_ptr<const GraphReduction> reduction;
  /// Where the nodes are spread over processes, and these are one process's own; null otherwise.
  std::shared_ptr<const Spread> spread;
  int64_t first_node = 0;  // the number of the first node here among those of all processes
  std::vector<Split> splits;
  bool drawn_split = false;          // the data had no split, and one was drawn by the seed
  std::vector<ColumnReport> report;  // of tables: what was read
  std::string why_unlabelled;        // why there are no labels, for messages; else empty
  std::vector<int64_t> distance;     // hops from the informative node (the chains); else empty

  int64_t nodes() const { return graph.nodes; }
  int64_t feature_count() const { return features.size(1); }
  bool multi_label() const { return labels.defined() && labels.scalar_type() == torch::kUInt8; }
  bool is_regression() const { return labels.defined() && labels.is_floating_point(); }
  std::string node_name(int64_t node) const;
  std::string class_name(int64_t k) const;  // of a class, a label or a number to predict
  /// Of a column; columns behind the features are those of labels that are inputs, one for each class.
  std::string feature_name(int64_t column) const;
  int64_t graphs() const;
  /// The nodes of each graph, ascending.
  std::vector<std::vector<int64_t>> members() const;
};

/// The paper's synthetic chains: `chains_per_class` paths per class, features zero but for the one-hot class
/// in the first node of each path; arcs run away from that node. The split is random over nodes: train ⌊5 %⌋,
/// validation ⌊10 %⌋, test the rest.
struct ChainsOptions {
  int64_t length = 100;
  int64_t chains_per_class = 20;
  int64_t classes = 2;
  int64_t features = 100;
  double noise = 0;  // U(-noise, noise) is added to all features
};
Dataset chains_dataset(const ChainsOptions& options, uint64_t seed);

/// Zachary's karate club: one-hot features, the two factions as classes. Of each faction 4 random members are
/// for training, 4 for validation, the rest for testing.
Dataset karate_dataset(uint64_t seed);

/// The folders in which named data sets are searched.
struct DataFolders {
  std::vector<std::string> search;  // in this order

  /// Each folder of $EIGNN_DATA (separated by colons), then `data` in the cache folder: $EIGNN_CACHE, else
  /// $XDG_CACHE_HOME/eignn, else ~/.cache/eignn.
  static DataFolders from_environment();
};

/// Loads a built-in set ("chains", "karate"), a named public set found in `folders`, or a path, in this
/// order: ./texas is a path. docs/data.md has the formats, which are recognised by content. `chains` applies
/// to the set "chains" only. Where files have no splits, one is drawn by the seed: 60 % to train, 20 % to
/// validate, 20 % to test, of each class (or of the nodes with sets of labels, or of the graphs where there
/// are several). ArgumentError for a name that is none of these, and for weights to use where the data have
/// none; DataError for files that are missing or wrong.
/// `tables` says what is what in a user's own tables, and which weights of arcs are taken; a table without
/// features gets those of the graph itself (docs/data.md).
Dataset load_dataset(const std::string& name, const ChainsOptions& chains, uint64_t seed,
                     const DataFolders& folders = DataFolders::from_environment(),
                     const TableOptions& tables = {});

/// Adds features of the graph itself beside those that are there: degree, core number, walks that return
/// (docs/data.md).
void add_structural_features(Dataset& dataset);
/// How many of the features, the last ones, were added in this way.
int64_t structural_feature_count(const Dataset& dataset);

/// Checks a data set that was made in memory. Throws an ArgumentError for the first inconsistency; its field
/// is the member ("features", "labels", "splits[0].train"). Checks the types, sizes and devices of the
/// tensors, that features are finite or gaps of `columns`, and that the nodes in arcs and splits, the classes
/// and the graphs exist. What load_dataset returns passes. Data without labels and splits pass too.
void validate(const Dataset& dataset);

/// load_dataset() with default options and folders: load("texas"), load("runs/mine.npz").
Dataset load(const std::string& name_or_path, uint64_t seed = 0);

/// A data set from tensors in memory, with a drawn split. `features` are floating-point numbers (n, m), on
/// any device; a sparse tensor (COO) stays one. `labels` are int64 (n,), -1 where unknown, or uint8 (n,
/// classes) sets of labels; they may be undefined for a graph that is only used for prediction, and then
/// there is no split. ArgumentError for shapes, types and values that do not fit the graph; DataError where
/// there are too few labels for a split.
///
///     auto data = eignn::make_dataset(graph, X, labels);
Dataset make_dataset(Graph graph, const torch::Tensor& features, const torch::Tensor& labels = {},
                     uint64_t seed = 0);

/// The names that load_dataset() accepts, besides paths.
const std::vector<std::string>& dataset_names();
bool is_dataset_name(const std::string& name);

}  // namespace eignn
