// A user's own graph: tables or arrays in a folder, or in files given one by one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/raw_dataset.h"
#include "data/streamed_dataset.h"

namespace eignn {

struct OwnGraphFiles {
  std::string graph;     ///< what read_graph takes
  std::string features;  ///< .npy or .csv, by content
  std::string labels;    ///< .npy or .csv, by content
  std::string splits;    ///< .csv, or the folder of the three mask files; empty: there are none
};

/// Files of any name. (own_graph_reader takes a folder, whose files have the names of own_graph.cpp.)
RawDataset read_own_graph(const OwnGraphFiles& files);

/// The same a piece at a time (each_arcs; features.npy is mapped where it can be), its weights settled as
/// `weights` says.
StreamedDataset stream_own_graph(const OwnGraphFiles& files, EdgeWeights weights);

/// The tables from memory. The features are (n, d), float64.
Array parse_features_csv(std::string_view text, const std::string& origin);
/// Fills in labels or label_sets and known, and classes, for the nodes that `set` has.
void parse_labels_csv(std::string_view text, const std::string& origin, RawDataset* set);
std::vector<NodeSplit> parse_splits_csv(std::string_view text, const std::string& origin, int64_t nodes);

}  // namespace eignn
