#pragma once

#include <cstdint>

namespace eignn {

/// A sparse matrix by its rows, in a GPU's memory.
template <class T>
struct RowsOnGpu {
  const int32_t *begin, *column;
  const T* value;
  int64_t rows;
};

}  // namespace eignn
