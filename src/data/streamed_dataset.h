// A data set whose arcs and features come a piece at a time, so that neither need fit into memory.
#pragma once

#include <functional>
#include <string>

#include "data/raw_dataset.h"
#include "eignn/options.h"

namespace eignn {

/// Some arcs of a file, in its order. `where(k)` says where arc k of the piece stands.
struct ArcPiece {
  const ArcList& arcs;
  const std::function<Where(size_t)>& where;
};
using TakeArcs = std::function<void(const ArcPiece&)>;

/// Some rows of features, in the type and width of RawDataset::features.
using TakeRows = std::function<void(const unsigned char* rows, int64_t count)>;

struct StreamedDataset {
  /// All but the arcs and the bytes of dense features: `arcs.nodes`, and the shape and type of `features`,
  /// are set. Entries of sparse features are there.
  RawDataset nodes;
  /// Calls its argument for all rows of the dense features, in the order of the nodes. DataError where they
  /// are not as many as there are nodes.
  std::function<void(const TakeRows&)> each_features;
  /// Calls its argument for all arcs. Their ids may be out of range; their weights are settled
  /// (take_weights).
  std::function<void(const TakeArcs&)> each_arcs;
};

/// The pieces of a set that is in memory.
StreamedDataset streamed(RawDataset set);

/// The rows of dense features that are in memory.
std::function<void(const TakeRows&)> rows_in_memory(Array features);

}  // namespace eignn
