// What a training on several processes would need.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/spread.h"

namespace eignn {

struct SpreadInspection {
  std::string dataset;
  int64_t processes = 0, nodes = 0, entries = 0, features = 0;
  bool in_shards = false;  // no process reads more than its own rows
  struct Row {
    Grid grid;
    SpreadBytes bytes;         // of the process with most
    int64_t most_fetched = 0;  // rows that a process fetches before a product
    double fetched_share = 0;  // of all processes, as a share of the nodes
  };
  std::vector<Row> rows;  // each grid of so many processes
};

/// ArgumentError{"ranks"} for fewer than one process or more than nodes; for settings that cannot be spread
/// as require_spreadable().
SpreadInspection inspect_spread(const TrainConfig& config, int64_t processes);

}  // namespace eignn
