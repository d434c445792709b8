#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/arc_list.h"
#include "data/text_pool.h"
#include "eignn/table.h"

namespace eignn {

struct EdgeTable {
  ArcList arcs;             ///< nodes is -1: `ids` has them
  int64_t of_weight_0 = 0;  ///< edges that were left out because their weight is 0
  std::vector<ColumnReport> report;
};

/// Reads a table of edges between nodes of any ids. Those in `ids` are known already; new ones are added.
/// DataError for whatever cannot be used, with line and column.
EdgeTable parse_edge_table(std::string_view text, const std::string& path, const TableOptions& options,
                           TextPool* ids);

}  // namespace eignn
