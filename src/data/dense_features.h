// Helpers of readers whose files list the non-zero features, which become dense here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "data/npy.h"
#include "data/raw_dataset.h"
#include "data/sparse_rows.h"

namespace eignn {

/// (rows, columns) zeros for features that `listed_bytes` bytes of a file list by index. DataError above 8
/// GiB, and where the size is implausible for so few bytes: an index is then wrong.
Array zero_features(int64_t rows, int64_t columns, ElementType type, size_t listed_bytes,
                    const std::string& origin);

/// Sets the features of a data set to these entries, whose rows are sorted (sorted_rows): as a list where
/// they stay one, else dense, so that a set is read the same in either form. `set.features` has their shape
/// and origin; `listed_bytes` is for zero_features().
void take_listed_features(RawDataset& set, SparseRows rows, size_t listed_bytes);

/// The array as uint8 where every number is a whole one from 0 to 255, else unchanged.
Array as_bytes_if_exact(Array array);

}  // namespace eignn
