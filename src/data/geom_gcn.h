#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/file_dataset.h"

namespace eignn {

/// Whether a folder holds one of the two text files of the Geom-GCN data sets.
bool is_geom_gcn(const std::string& folder);

/// Reads the folder of a Geom-GCN data set, and its splits where they are found.
FileDataset read_geom_gcn(const std::string& folder);

struct GeomGcnNodes {
  Array features;               ///< (n, d): uint8 where that is exact, else float32 or float64
  std::vector<int64_t> labels;  ///< (n,)
};

/// The text of out1_node_feature_label.txt.
GeomGcnNodes parse_geom_gcn_nodes(std::string_view text, const std::string& origin);

/// The text of out1_graph_edges.txt, of a graph with so many nodes.
ArcList parse_geom_gcn_edges(std::string_view text, int64_t nodes, const std::string& origin);

}  // namespace eignn
