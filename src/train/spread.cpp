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
  add(hash, data.features);
  add(hash, data.labels);
  for (const Split& split : data.splits)
    for (const auto& nodes : {split.train, split.val, split.test}) add(hash, nodes);
  return hash.hex();
}

void require_alike(const Ranks& ranks, const std::string& what, const std::string& here,
                   const std::string& problem, const std::string& remedy) {
  if (ranks.any(here != ranks.of_first(here))) throw DataError(what, "", problem, remedy);
}

// Rows first … last-1 of features; a copy, so that the others can be released.
torch::Tensor rows_of(const torch::Tensor& X, int64_t first, int64_t last) {
  if (!X.defined()) return X;
  if (X.is_sparse()) return X.narrow_copy(0, first, last - first).coalesce();
  return X.narrow(0, first, last - first).clone();
}

// The places of the nodes first … last-1 in a part of a split, in the order of the nodes.
torch::Tensor places_here(const torch::Tensor& part, int64_t first, int64_t last) {
  const auto [nodes, order] = part.sort();
  return order.masked_select((nodes >= first).logical_and(nodes < last)).contiguous();
}

template <class T>
std::vector<T> slice(const std::vector<T>& all, int64_t first, int64_t last) {
  return all.empty() ? all : std::vector<T>(all.begin() + first, all.begin() + last);
}

}  // namespace

void require_spreadable(const TrainConfig& c, int64_t features) {
  const auto refuse = [](const char* field, const std::string& problem, const std::string& remedy) {
    throw ArgumentError(field, problem + " cannot be spread over processes", remedy);
  };
  if (!c.is_eignn())
    refuse("model", fmt::format("the model {}", name(c.model)), "train eignn, or start one process");
  const EignnOptions& m = c.eignn();
  if (m.solver != "auto" && m.solver != "sparse")
    refuse("solver", fmt::format("the solver {}", m.solver), "use sparse, which auto takes too");
  if (is_stack(m)) refuse("layers", "a stack of equilibria", "use one layer");
  if (m.equilibria == 0) refuse("equilibria", "a model without an equilibrium", "start one process");
  if (m.head == Head::residual) refuse("head", "the head residual", "use plain, l2 or batch-norm");
  if (m.source != Source::own) refuse("source", fmt::format("the source {}", name(m.source)), "use own");
  if (m.label_inputs) refuse("label-inputs", "labels as inputs", "leave them off");
  if (m.rank > 0 && m.rank < (m.encoder > 0 ? m.encoder : features))
    refuse("rank", "an F of fewer rows than columns", "use an encoder of that width instead");
  if (!c.further_directions.empty()) refuse("directions", "several directions", "use one");
  if (c.partition > 0) refuse("partition", "a graph in parts", "leave it out");
  if (c.coarsen < 1) refuse("coarsen", "a graph of clusters", "leave it out");
  if (!c.memory.empty()) refuse("memory", "a limit on the memory", "take more parts of the rows by grid");
  if (c.conformal > 0) refuse("conformal", "prediction sets", "leave them out");
  if (c.device != DeviceKind::cpu) refuse("device", "work on a GPU", "use cpu");
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

namespace {

void require_one_graph(const std::string& name, bool several) {
  if (several) {
    throw ArgumentError("dataset",
                        fmt::format("{} has several graphs, and one is spread over processes", name),
                        "start one process");
  }
}

}  // namespace

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

Dataset spread(Dataset whole, const TrainConfig& c, const SpreadOptions& options) {
  const Ranks& ranks = options.ranks;
  require_spreadable(c, whole.feature_count());
  require_one_graph(whole.name, whole.graphs() > 1);
  require_alike(ranks, whole.name, hash_of(whole), "the processes have read different data",
                "give all of them the same files");
  const auto graph = rows_in_memory(whole.graph);
  const Grid grid = spread_grid(static_cast<double>(whole.nodes()),
                                static_cast<double>(2 * whole.graph.arcs() + whole.nodes()),
                                whole.feature_count(), graph->weighted(), c, options);
  auto out = std::make_shared<Spread>(ranks, spread_rows(*graph, grid), options.terms);
  PropagationOptions propagation = c.propagation;
  if (graph->weighted())
    propagation.weight_scale = out->weight_scale = scale_of_weights(whole.graph, c.propagation);
  out->S = distributed_operator(ranks, *graph, out->ranges, propagation, torch_dtype(c.dtype));
  out->metric = resolved_metric(c.metric, whole);
  const auto rank = static_cast<size_t>(ranks.rank());
  const int64_t first = out->ranges.first_of_process[rank], last = out->ranges.first_of_process[rank + 1];
  Dataset here = std::move(whole);
  here.first_node = first;
  here.features = rows_of(here.features, first, last);
  here.labels = rows_of(here.labels, first, last);
  here.known = rows_of(here.known, first, last);
  here.node_names = slice(here.node_names, first, last);
  here.distance = slice(here.distance, first, last);
  for (Split& split : here.splits) {
    out->train_places.push_back(places_here(split.train, first, last));
    for (torch::Tensor* part : {&split.train, &split.val, &split.test})
      *part = part->index_select(0, places_here(*part, first, last)) - first;
  }
  here.graph = Graph::from_arcs(last - first, {}, {});
  here.spread = std::move(out);
  return here;
}

}  // namespace eignn
