// Helpers of readers whose files list the non-zero features, which become dense here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "data/npy.h"

namespace eignn {

/// (rows, columns) zeros for features that `listed_bytes` bytes of a file list by index. DataError above 8
/// GiB, and where the size is implausible for so few bytes: an index is then wrong.
Array zero_features(int64_t rows, int64_t columns, ElementType type, size_t listed_bytes,
                    const std::string& origin);

/// The array as uint8 where every number is a whole one from 0 to 255, else unchanged.
Array as_bytes_if_exact(Array array);

}  // namespace eignn
