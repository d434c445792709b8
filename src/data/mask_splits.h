#pragma once

#include <vector>

#include "data/named_arrays.h"
#include "data/raw_dataset.h"

namespace eignn {

/// The splits of the arrays train_masks, val_masks and test_masks: (k, n), who is in the part in each of k
/// splits, or (n,), one split. Empty when there is none of the three.
std::vector<NodeSplit> read_mask_splits(const NamedArrays& arrays, int64_t nodes);

}  // namespace eignn
