// A check of compressed rows (CSR) that were assembled outside the library.
#pragma once

#include <cstdint>
#include <vector>

namespace eignn {

struct RowsToCheck {
  int64_t nodes;
  const std::vector<int64_t>& begin;
  const std::vector<int32_t>& target;
  const char *owner, *target_name, *remedy;  // for the message: "S", "column", "make S with …"
};

/// Throws ArgumentError unless begin has nodes + 1 ascending offsets into target, and each row distinct ids
/// of nodes, ascending.
void check_rows(const RowsToCheck& rows);

}  // namespace eignn
