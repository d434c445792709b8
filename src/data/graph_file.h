#pragma once

#include <cstdint>
#include <string>

#include "data/arc_list.h"

namespace eignn {

/// Reads a graph. `format` is npz (member `edges`), mtx or edges; empty: decided by the file's first bytes.
ArcList read_graph(const std::string& path, const std::string& format);

/// Checks that every node id is in [0, n), and that n is what the file states, if it does.
void check_node_range(const ArcList& arcs, int64_t n, const std::string& path);

}  // namespace eignn
