#pragma once

#include <string>
#include <vector>

#include "eignn/table.h"

namespace eignn {

/// What was read of tables and what was done with it, a line per column; of many features the first ones.
/// Ends in a newline.
std::string columns_table(const std::vector<ColumnReport>& columns);

}  // namespace eignn
