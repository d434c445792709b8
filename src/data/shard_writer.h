// Writes data sets in the sharded format (sharded_folder.cpp), in bounded memory.
#pragma once

#include <cstdint>
#include <string>

#include "data/own_graph.h"
#include "data/streamed_dataset.h"
#include "eignn/options.h"

namespace eignn {

struct ShardOptions {
  int64_t shards = 1;                   // files that each array is cut into, by equal numbers of nodes
  uint64_t memory = uint64_t{2} << 30;  // bytes in which arcs are sorted
  EdgeWeights weights = EdgeWeights::automatic;

  static constexpr uint64_t least_memory = uint64_t{1} << 16;
};

/// What was written.
struct ShardSummary {
  std::string name, format;  // of what was read
  int64_t nodes = 0, arcs_in_file = 0, arcs = 0, features = 0, classes = 0, splits = 0, shards = 0;
  bool weighted = false, symmetric = false;
};

/// Writes the folder `path`, which must not exist yet; it appears whole or not at all. The same data give the
/// same bytes, whatever the memory and the order of the arcs. Beside options.memory, labels and splits are in
/// memory, 8 bytes a node, and what the source itself holds. DataError for a node out of range, with its line
/// where the source has lines, and for tables, which have names and gaps that this format has not;
/// ArgumentError{"shards"} unless 1 ≤ shards ≤ nodes, ArgumentError{"memory"} below least_memory.
ShardSummary write_sharded(const StreamedDataset& set, const std::string& path, const ShardOptions& options);

/// The same for the data set at a path, a file or a folder of any format. Arcs and features of numbered own
/// graphs (edge lists and .npy) and of Open Graph Benchmark folders are read a piece at a time; other formats
/// are read into memory first.
ShardSummary convert_to_shards(const std::string& dataset, const std::string& path,
                               const ShardOptions& options);
ShardSummary convert_to_shards(const OwnGraphFiles& files, const std::string& path,
                               const ShardOptions& options);

}  // namespace eignn
