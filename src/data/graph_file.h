#pragma once

#include <cstdint>
#include <string>

#include "data/arc_list.h"
#include "data/npy.h"
#include "data/streamed_dataset.h"

namespace eignn {

/// Reads a graph. `format` is npz (member `edges`), npy, mtx or edges; empty: decided by the file's first
/// bytes. take_weights() settles whether its weights are used.
ArcList read_graph(const std::string& path, const std::string& format);

/// The same graph a piece at a time, its weights settled as `weights` says (take_weights). An edge list,
/// which may be packed by gzip, and a .npy that can be mapped are never in memory as a whole; other formats
/// are one piece.
void each_arcs(const std::string& path, EdgeWeights weights, const TakeArcs& take);

/// The arcs of an integer array (E, 2), one arc (source, target) per row; it states no number of nodes.
ArcList arcs_of_edges(const Array& edges);

/// Checks that every node id is in [0, n), and that n is what the file states, if it does.
void check_node_range(const ArcList& arcs, int64_t n, const std::string& path);

}  // namespace eignn
