// A set of several graphs, dealt to processes whole: each solves its own, and an epoch adds up gradients and
// the moments of batch norms. A batch of graphs is that of one process, so that its graphs are computed where
// they are; a process without any of them waits.
#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <numeric>

#include "eignn/error.h"
#include "graph/grouping.h"
#include "train/assemble.h"
#include "train/metrics.h"
#include "train/plan_request.h"
#include "train/spread.h"

namespace eignn {

namespace {

// Entries of S, and one for each row.
std::vector<double> entries_of_graphs(const Dataset& data) {
  std::vector<double> work(static_cast<size_t>(data.graphs()), 0);
  for (int64_t v = 0; v < data.nodes(); ++v) {
    work[static_cast<size_t>(data.graph_of[v])] +=
        static_cast<double>(data.graph.row_begin[v + 1] - data.graph.row_begin[v] + 2);
  }
  return work;
}

// Whether each graph has a node that some split of the settings trains on.
std::vector<bool> trained_graphs(const Dataset& data, const TrainConfig& c) {
  std::vector<bool> trained(static_cast<size_t>(data.graphs()), false);
  if (data.splits.empty()) return trained;
  const size_t asked = c.split.empty() || c.split == "all" ? 0 : std::stoul(c.split);
  const auto nodes = data.splits[std::min(asked, data.splits.size() - 1)].train.contiguous();
  for (const auto* v = nodes.data_ptr<int64_t>(); v != nodes.data_ptr<int64_t>() + nodes.numel(); ++v)
    trained[static_cast<size_t>(data.graph_of[static_cast<size_t>(*v)])] = true;
  return trained;
}

std::vector<int> processes_of_graphs(const Dataset& data, const TrainConfig& c, int processes) {
  const auto work = entries_of_graphs(data);
  const auto trained = trained_graphs(data, c);
  std::vector<int> owner(work.size());
  // Those of the other kind go to the processes from the last one on, so that few graphs are not all the
  // first one's.
  for (const bool kind : {true, false}) {
    std::vector<size_t> graphs;
    std::vector<double> of_kind;
    for (size_t g = 0; g < work.size(); ++g) {
      if (trained[g] != kind) continue;
      graphs.push_back(g);
      of_kind.push_back(work[g]);
    }
    const auto place = dealt(of_kind, processes);
    for (size_t k = 0; k < graphs.size(); ++k) owner[graphs[k]] = kind ? place[k] : processes - 1 - place[k];
  }
  // Nobody is without a graph.
  std::vector<int64_t> has(static_cast<size_t>(processes), 0);
  for (const int process : owner) ++has[static_cast<size_t>(process)];
  for (int process = 0; process < processes; ++process) {
    if (has[static_cast<size_t>(process)] > 0) continue;
    const auto most = std::max_element(has.begin(), has.end()) - has.begin();
    *std::find(owner.begin(), owner.end(), static_cast<int>(most)) = process;
    --has[static_cast<size_t>(most)];
    ++has[static_cast<size_t>(process)];
  }
  return owner;
}

std::vector<Spread::Run> runs_of_graphs(const Dataset& data, const std::vector<int>& owner) {
  std::vector<Spread::Run> runs;
  for (const int64_t g : data.graph_of) {
    const int process = owner[static_cast<size_t>(g)];
    if (runs.empty() || runs.back().process != process) runs.push_back({process, 0});
    ++runs.back().nodes;
  }
  return runs;
}

}  // namespace

std::vector<int> dealt(const std::vector<double>& work, int processes) {
  std::vector<size_t> order(work.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return work[a] > work[b]; });
  std::vector<double> load(static_cast<size_t>(processes), 0);
  std::vector<int> out(work.size());
  for (const size_t k : order) {
    const auto least = std::min_element(load.begin(), load.end()) - load.begin();
    load[static_cast<size_t>(least)] += work[k];
    out[k] = static_cast<int>(least);
  }
  return out;
}

Dataset dealt_graphs(Dataset whole, const TrainConfig& c, const SpreadOptions& options) {
  const Ranks& ranks = options.ranks;
  if (options.order != NodeOrder::given) {
    throw ArgumentError("order", fmt::format("{} has several graphs, which are dealt whole", whole.name),
                        "leave it out");
  }
  if (options.grid && options.grid->columns > 1) {
    throw ArgumentError("grid", fmt::format("{} has several graphs, which are dealt whole", whole.name),
                        "leave it out");
  }
  if (whole.graphs() < ranks.size()) {
    throw ArgumentError("ranks",
                        fmt::format("{} processes have {} graphs to share", ranks.size(), whole.graphs()),
                        "start fewer of them");
  }
  auto out = std::make_shared<Spread>(options);
  out->metric = resolved_metric(c.metric, whole);
  out->nodes = whole.nodes();
  out->all_graphs = whole.graphs();
  TrainConfig scaled = with_weight_scale(whole, c);
  if (!whole.graph.weight.empty()) out->weight_scale = scaled.propagation.weight_scale;
  // One solver for all, as one process has it.
  out->solver = c.eignn().solver;
  if (out->solver == "auto")
    out->solver = plan_solver(plan_request(graph_matrices(whole, scaled), whole, scaled)).solver;
  if (ranks.is_first()) out->node_names = whole.node_names;

  const auto owner = processes_of_graphs(whole, c, ranks.size());
  out->runs = runs_of_graphs(whole, owner);
  std::vector<int64_t> nodes, place(owner.size(), -1);
  for (size_t g = 0; g < owner.size(); ++g) {
    if (owner[g] != ranks.rank()) continue;
    place[g] = static_cast<int64_t>(out->graphs.size());
    out->graphs.push_back(static_cast<int64_t>(g));
  }
  for (int64_t v = 0; v < whole.nodes(); ++v)
    if (owner[static_cast<size_t>(whole.graph_of[v])] == ranks.rank()) nodes.push_back(v);
  Graph arcs = induced_graph(whole.graph, nodes);
  out->own = OwnNodes(std::move(nodes), whole.nodes());
  for (const Split& split : whole.splits) out->train_places.push_back(out->own.places_in(split.train));
  Dataset here = out->own.part_of(std::move(whole));
  here.graph = std::move(arcs);
  for (int64_t& g : here.graph_of) g = place[static_cast<size_t>(g)];
  here.spread = std::move(out);
  return here;
}

}  // namespace eignn
