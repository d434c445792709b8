#include "train/spread.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "data/memory_limit.h"
#include "data/sparse_tensor.h"
#include "eignn/error.h"
#include "graph/content_hash.h"
#include "train/metrics.h"
#include "train/torch_settings.h"

namespace eignn {

namespace {

void add(ContentHash& hash, const torch::Tensor& t) {
  if (!t.defined()) return;
  if (t.is_sparse()) {
    add(hash, t.indices());
    return add(hash, t.values());
  }
  const auto bytes = t.contiguous();
  hash.add(bytes.data_ptr(), bytes.nbytes());
}

// Equal for data sets with the same graph, features, labels and splits.
std::string hash_of(const Dataset& data) {
  ContentHash hash;
  hash.add(data.graph.row_begin);
  hash.add(data.graph.target);
  hash.add(data.graph.weight);
  hash.add(data.graph_of);
  add(hash, data.features);
  add(hash, data.labels);
  for (const Split& split : data.splits)
    for (const auto& nodes : {split.train, split.val, split.test}) add(hash, nodes);
  return hash.hex();
}

}  // namespace

void require_alike(const Ranks& ranks, const std::string& what, const std::string& here,
                   const std::string& problem, const std::string& remedy) {
  if (ranks.any(here != ranks.of_first(here))) throw DataError(what, "", problem, remedy);
}

TrainConfig on_machine(TrainConfig config, const SpreadOptions* options) {
  if (options && config.threads == 0) config.threads = options->threads;
  return config;
}

std::vector<Spread::Run> runs_of(const NodeRanges& ranges) {
  std::vector<Spread::Run> runs;
  const auto& first = ranges.first_of_process;
  for (size_t k = 0; k + 1 < first.size(); ++k)
    runs.push_back({static_cast<int>(k), first[k + 1] - first[k]});
  return runs;
}

namespace {

void refuse_to_spread(const char* field, const std::string& problem, const std::string& remedy) {
  throw ArgumentError(field, problem + " cannot be spread over processes", remedy);
}

// What neither rows of a graph nor whole graphs allow.
void require_spread_model(const TrainConfig& c) {
  if (!c.is_eignn())
    refuse_to_spread("model", fmt::format("the model {}", name(c.model)),
                     "train eignn, or start one process");
  const EignnOptions& m = c.eignn();
  if (is_stack(m)) refuse_to_spread("layers", "a stack of equilibria", "use one layer");
  if (m.equilibria == 0)
    refuse_to_spread("equilibria", "a model without an equilibrium", "start one process");
  if (m.label_inputs) refuse_to_spread("label-inputs", "labels as inputs", "leave them off");
  if (c.partition > 0) refuse_to_spread("partition", "a graph in parts", "leave it out");
  if (c.coarsen < 1) refuse_to_spread("coarsen", "a graph of clusters", "leave it out");
  if (!c.memory.empty())
    refuse_to_spread("memory", "a limit on the memory", "take more parts of the rows by grid");
  if (c.conformal > 0) refuse_to_spread("conformal", "prediction sets", "leave them out");
  if (c.device != DeviceKind::cpu) refuse_to_spread("device", "work on a GPU", "use cpu");
}

}  // namespace

void require_spreadable(const TrainConfig& c, int64_t features) {
  require_spread_model(c);
  const EignnOptions& m = c.eignn();
  if (m.solver != "auto" && m.solver != "sparse")
    refuse_to_spread("solver", fmt::format("the solver {}", m.solver), "use sparse, which auto takes too");
  if (m.head == Head::residual) refuse_to_spread("head", "the head residual", "use plain, l2 or batch-norm");
  if (m.source != Source::own)
    refuse_to_spread("source", fmt::format("the source {}", name(m.source)), "use own");
  if (m.rank > 0 && m.rank < (m.encoder > 0 ? m.encoder : features))
    refuse_to_spread("rank", "an F of fewer rows than columns", "use an encoder of that width instead");
  if (!c.further_directions.empty()) refuse_to_spread("directions", "several directions", "use one");
}

void require_dealable(const TrainConfig& c) {
  require_spread_model(c);
  for (const char* solver : {"truncated", "published"})
    if (c.eignn().solver == solver)
      refuse_to_spread("solver", fmt::format("the solver {}", solver), "use auto");
}

SpreadBytes bytes_of_process(const SpreadSize& s, Grid grid) {
  const double R = static_cast<double>(grid.rows), C = static_cast<double>(grid.columns),
               b = s.bytes_of_number;
  const double rows = s.nodes / R, entries = s.entries / R, kinds = s.directed ? 2 : 1;
  const double halo = grid.rows == 1 ? 0 : s.halo >= 0 ? s.halo : std::min(s.nodes - rows, entries);
  const double line = 64 / b, share = std::ceil(s.features / C), padded = std::ceil(share / line) * line,
               block = std::min(padded, 4 * line);
  SpreadBytes out;
  out.matrix = kinds * (8 * rows + (4 + b) * entries);
  out.features = b * (s.nodes / (R * C) * s.features + (grid.columns > 1 ? rows * share : 0));
  out.products = b * (2 * rows * padded + (rows + halo) * block) + (R > 1 ? b * halo * block : 0);
  out.states =
      b * 3 * (s.nodes / (R * C) + (grid.columns > 1 ? rows / C : 0)) * std::ceil(s.features / line) * line;
  const double arc =
      s.weighted ? 16 : 8;  // as a Graph has them; those of an undirected one twice, and both ways
  out.reading = (s.directed ? 2 : 3) * arc * s.entries + 16 * s.nodes + 8 * s.nodes * s.features;
  return out;
}

Grid chosen_grid(const SpreadSize& size, int64_t processes, double bytes_of_each) {
  for (int64_t rows = 1; rows < processes; ++rows) {
    const Grid grid{rows, processes / rows};
    if (processes % rows == 0 && static_cast<double>(grid.columns) <= size.features &&
        bytes_of_process(size, grid).training() <= bytes_of_each)
      return grid;
  }
  return {processes, 1};
}

Grid spread_grid(double nodes, double entries, int64_t features, bool weighted, const TrainConfig& c,
                 const SpreadOptions& options) {
  SpreadSize size;
  size.nodes = nodes;
  size.entries = entries;
  size.features = static_cast<double>(features);
  size.bytes_of_number = static_cast<double>(c10::elementSize(torch_dtype(c.dtype)));
  size.directed = c.propagation.direction != Direction::undirected;
  size.weighted = weighted;
  const double free = static_cast<double>(memory_limit()) / static_cast<double>(options.processes_here);
  const Grid grid =
      options.grid ? *options.grid : chosen_grid(size, options.ranks.size(), -options.ranks.largest(-free));
  if (grid.columns > features) {
    throw ArgumentError(
        "grid", fmt::format("{} parts of the columns have {} features to share", grid.columns, features),
        "take more parts of the rows");
  }
  return grid;
}

namespace {

// The graph in another order than that of the data; all empty where it is that.
struct Reordered {
  std::vector<int64_t> order;  // entry k: which node comes k-th
  Graph graph;
  std::vector<int64_t> first_of_part;  // of a partitioner's parts; empty: they are cut by numbers of entries
};

Reordered reordered_for(const Dataset& whole, const TrainConfig& c, const SpreadOptions& options) {
  Reordered out;
  if (options.order == NodeOrder::given) return out;
  if (whole.nodes() < options.ranks.size()) return out;  // spread_rows() refuses them
  std::vector<int64_t> part;
  if (options.order == NodeOrder::ptscotch) {
    const Grid grid = spread_grid(static_cast<double>(whole.nodes()),
                                  static_cast<double>(2 * whole.graph.arcs() + whole.nodes()),
                                  whole.feature_count(), !whole.graph.weight.empty(), c, options);
    part = ptscotch_parts(options.ranks, whole.graph, grid.rows);
    out.first_of_part.assign(static_cast<size_t>(grid.rows) + 1, 0);
    for (const int64_t p : part) ++out.first_of_part[static_cast<size_t>(p) + 1];
    for (int64_t p = 0; p < grid.rows; ++p)
      out.first_of_part[static_cast<size_t>(p) + 1] += out.first_of_part[static_cast<size_t>(p)];
  }
  out.order = breadth_first_order(whole.graph, part);
  out.graph = reordered(whole.graph, out.order);
  return out;
}

}  // namespace

Dataset spread(Dataset whole, const TrainConfig& c, const SpreadOptions& options) {
  const Ranks& ranks = options.ranks;
  const bool several = whole.graphs() > 1;
  several ? require_dealable(c) : require_spreadable(c, whole.feature_count());
  require_alike(ranks, whole.name, hash_of(whole), "the processes have read different data",
                "give all of them the same files");
  if (several) return dealt_graphs(std::move(whole), c, options);
  const Reordered in_order = reordered_for(whole, c, options);
  const auto graph = rows_in_memory(in_order.order.empty() ? whole.graph : in_order.graph);
  const Grid grid = spread_grid(static_cast<double>(whole.nodes()),
                                static_cast<double>(2 * whole.graph.arcs() + whole.nodes()),
                                whole.feature_count(), graph->weighted(), c, options);
  const NodeRanges ranges =
      in_order.first_of_part.empty() ? spread_rows(*graph, grid) : spread_rows(in_order.first_of_part, grid);
  auto out = std::make_shared<Spread>(options);
  PropagationOptions propagation = c.propagation;
  if (graph->weighted())
    propagation.weight_scale = out->weight_scale = scale_of_weights(whole.graph, c.propagation);
  out->S = distributed_operator(ranks, *graph, ranges, propagation, torch_dtype(c.dtype));
  out->metric = resolved_metric(c.metric, whole);
  const auto rank = static_cast<size_t>(ranks.rank());
  const int64_t first = ranges.first_of_process[rank], last = ranges.first_of_process[rank + 1];
  const auto& order = in_order.order;
  out->own = order.empty() ? OwnNodes(first, last)
                           : OwnNodes({order.begin() + first, order.begin() + last}, whole.nodes());
  out->nodes = whole.nodes();
  if (order.empty()) out->runs = runs_of(ranges);
  if (ranks.is_first()) out->node_names = whole.node_names;
  for (const Split& split : whole.splits) out->train_places.push_back(out->own.places_in(split.train));
  Dataset here = out->own.part_of(std::move(whole));
  here.spread = std::move(out);
  return here;
}

}  // namespace eignn
