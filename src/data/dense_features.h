// What readers share that make dense features of what a file lists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "data/npy.h"

namespace eignn {

/// (rows, columns) zeros for the features that `listed_bytes` bytes of a file list by their places. Refused
/// above 8 GiB, and when so few bytes cannot mean so many features: the places are then wrong.
Array zero_features(int64_t rows, int64_t columns, ElementType type, size_t listed_bytes,
                    const std::string& origin);

/// The same numbers as uint8 where every one is a whole number from 0 to 255, else as they are.
Array as_bytes_if_exact(Array array);

}  // namespace eignn
