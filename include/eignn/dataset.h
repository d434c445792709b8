// A graph with features, labels and splits: what a model is trained on.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "eignn/graph.h"

namespace eignn {

/// Indices of labelled nodes, int64.
struct Split {
  torch::Tensor train, val, test;
};

/// One graph, or several that are disjoint (`graph_of` tells them apart, and a split then goes by graphs).
struct Dataset {
  std::string name;
  std::string format;        // of the files it was read from; empty: built in
  Graph graph;               // arcs as the data has them; a Direction says how they are read
  int64_t arcs_in_file = 0;  // with repeats
  torch::Tensor features;    // float64 (n, m)
  /// One label a node: int64 (n,), -1 where it is not known. A set of labels: uint8 (n, classes), see
  /// `known`.
  torch::Tensor labels;
  torch::Tensor known;  // bool (n,): the label is known
  int64_t classes = 0;
  std::vector<int64_t> graph_of;  // (n,): which graph a node is of, from 0; empty: there is one
  std::vector<Split> splits;
  bool drawn_split = false;  // the files had none: drawn by the seed
  std::vector<int64_t>
      distance;  // hops from the informative node, where the set has such a thing; else empty

  int64_t nodes() const { return graph.nodes; }
  int64_t feature_count() const { return features.size(1); }
  bool multi_label() const { return labels.defined() && labels.dim() == 2; }
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
  double noise = 0;  // features get U(-noise, noise) on top
};
Dataset chains_dataset(const ChainsOptions& options, uint64_t seed);

/// Zachary's karate club: one-hot features, the two factions as classes; 4 random members of each faction to
/// train on, 4 to validate, the rest to test.
Dataset karate_dataset(uint64_t seed);

/// Where the data sets that have a name are looked for.
struct DataFolders {
  std::vector<std::string> search;  // in this order

  /// Each folder of $EIGNN_DATA (a list with colons), then `data` in the cache: $EIGNN_CACHE, else
  /// $XDG_CACHE_HOME/eignn, else ~/.cache/eignn.
  static DataFolders from_environment();
};

/// A built-in set ("chains", "karate"), a named public set found in `folders`, or a path (docs/data.md has
/// the formats; they are recognised by content), in this order: ./texas is a path. Where files have no
/// splits, one is drawn by the seed: of each class 60 % to train, 20 % to validate, 20 % to test on.
/// ArgumentError for a name that is none of these; DataError for files that are missing or wrong.
Dataset load_dataset(const std::string& name, const ChainsOptions& chains, uint64_t seed,
                     const DataFolders& folders = DataFolders::from_environment());

/// Throws the ArgumentError of the first thing that does not fit together in a data set that was made in
/// memory; its field names the member ("features", "labels", "splits[0].train"). Checked are the types, the
/// sizes and the devices of the tensors, that features are finite, and that the nodes of arcs and splits, the
/// classes and the graphs are ones that there are. What load_dataset returns passes.
void validate(const Dataset& dataset);

/// The same with the defaults: load("texas"), load("runs/mine.npz").
Dataset load(const std::string& name_or_path, uint64_t seed = 0);

/// A data set of tensors in memory, with a drawn split. `labels` are int64 (n,), -1 where unknown, or uint8
/// (n, classes) sets of labels; they may be undefined for a graph that is only predicted on. ArgumentError
/// for shapes, types and values that do not fit the graph.
///
///     auto data = eignn::make_dataset(graph, X, labels);
Dataset make_dataset(Graph graph, const torch::Tensor& features, const torch::Tensor& labels = {},
                     uint64_t seed = 0);

/// What `name` may be, besides a path.
const std::vector<std::string>& dataset_names();
bool is_dataset_name(const std::string& name);

}  // namespace eignn
