#include "data/cell.h"

#include <cmath>
#include <cstdlib>

#include "fuzz_target.h"

namespace eignn {

void fuzz(std::string_view bytes) {
  const Cell cell = read_cell(bytes);
  if (cell.kind == CellKind::number && !std::isfinite(cell.number)) std::abort();
}

}  // namespace eignn
