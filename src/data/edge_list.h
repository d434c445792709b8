#pragma once

#include <string>
#include <string_view>

#include "data/arc_list.h"

namespace eignn {

/// Reads the arcs of an edge list; it states no number of nodes.
ArcList parse_edge_list(std::string_view text, const std::string& origin);

}  // namespace eignn
