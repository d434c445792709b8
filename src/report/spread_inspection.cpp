#include "report/spread_inspection.h"

#include <fmt/format.h>
#include <torch/types.h>

#include <algorithm>
#include <numeric>

#include "eignn/error.h"
#include "train/torch_settings.h"

namespace eignn {

SpreadInspection inspect_spread(const TrainConfig& config, int64_t processes) {
  if (processes < 1)
    throw ArgumentError("ranks", fmt::format("{} is no number of processes", processes), "give 1 or more");
  const SpreadGraph graph = open_graph(config);
  if (graph.graphs > 1) {
    throw ArgumentError(
        "ranks",
        fmt::format("{} has {} graphs, which are dealt whole and have no grid", graph.name, graph.graphs),
        fmt::format("start up to {} processes", graph.graphs));
  }
  require_spreadable(config, graph.features);
  SpreadInspection out;
  out.dataset = graph.name;
  out.processes = processes;
  out.nodes = graph.rows->nodes();
  out.entries = graph.entries;
  out.features = graph.features;
  out.in_shards = graph.in_shards;
  SpreadSize size;
  size.nodes = static_cast<double>(out.nodes);
  size.entries = static_cast<double>(out.entries);
  size.features = static_cast<double>(out.features);
  size.bytes_of_number = static_cast<double>(c10::elementSize(torch_dtype(config.dtype)));
  size.directed = config.propagation.direction != Direction::undirected;
  size.weighted = graph.rows->weighted();
  for (int64_t rows = 1; rows <= processes; ++rows) {
    const Grid grid{rows, processes / rows};
    if (processes % rows != 0 || grid.columns > std::max<int64_t>(1, out.features)) continue;
    SpreadInspection::Row row;
    row.grid = grid;
    const NodeRanges ranges = spread_rows(*graph.rows, grid);
    const auto fetched = halo_rows(*graph.rows, ranges.first_of_part, config.propagation.direction);
    row.most_fetched = *std::max_element(fetched.begin(), fetched.end());
    row.fetched_share = static_cast<double>(std::accumulate(fetched.begin(), fetched.end(), int64_t{0})) /
                        static_cast<double>(out.nodes);
    size.halo = static_cast<double>(row.most_fetched);
    row.bytes = bytes_of_process(size, grid);
    if (graph.in_shards)  // the arcs of its own rows, until S is made of them
      row.bytes.reading = (size.weighted ? 12 : 4) * size.entries / static_cast<double>(rows);
    out.rows.push_back(row);
  }
  return out;
}

}  // namespace eignn
