#pragma once

#include <vector>

#include "data/named_arrays.h"
#include "data/raw_dataset.h"

namespace eignn {

/// The splits given by the arrays train_masks, val_masks and test_masks: (k, n) with the nodes of the part in
/// each of k splits, or (n,) for one split. Empty when none of the three is there.
std::vector<NodeSplit> read_mask_splits(const NamedArrays& arrays, int64_t nodes);

}  // namespace eignn
