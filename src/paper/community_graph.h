// A generated graph of any size whose labels can be learned from features and neighbours.
#pragma once

#include <cstdint>

#include "data/raw_dataset.h"

namespace eignn {

/// Communities of a hundred nodes, each of one of eight classes. A node has five edges, four in five of them
/// within its community and the rest anywhere; its 64 features are its class's direction under noise six
/// times as long. 5 % of the nodes are for training, 10 % for validation, the rest for testing. The seed
/// determines everything.
RawDataset community_graph(int64_t nodes, uint64_t seed);

}  // namespace eignn
