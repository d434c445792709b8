#pragma once

#include <string>
#include <string_view>

#include "data/arc_list.h"

namespace eignn {

/// Reads a square Matrix Market matrix A: an entry in row i, column j is the arc from i to j, with its value
/// as a weight on request.
ArcList parse_matrix_market(std::string_view text, const std::string& origin);

}  // namespace eignn
