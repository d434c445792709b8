// A product of k columns on a process costs entries·k·t_entry + rows·k·t_row, and a fetch of the halo's rows;
// the preparation makes terms-1 of them for each of two sets of nodes and its share of the columns. A
// training step reads the terms at the labelled nodes, forward and back, the evaluation forward; the rest,
// eigenvectors and products of m×m and the sums over the processes, is that of a step with one labelled node.
#include "paper/cluster_cost.h"

#include <torch/torch.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <string>

#include "cluster/one_process.h"
#include "equilibrium/contraction.h"
#include "equilibrium/node/resolvent_series.h"
#include "equilibrium/solvers.h"
#include "equilibrium/sparse_kernel.h"
#include "equilibrium/stopwatch.h"
#include "equilibrium/tolerance.h"
#include "graph/random_stream.h"
#include "train/metrics.h"
#include "train/spread.h"

namespace eignn {

namespace {

// The median over some calls, of the slowest process. All processes call it.
double seconds_of(const Ranks& ranks, const std::function<void()>& work, int times = 5) {
  work();  // the first call allocates
  std::vector<double> seconds;
  for (int k = 0; k < times; ++k) {
    ranks.sum(0.0);  // together
    const Stopwatch watch;
    work();
    seconds.push_back(watch.seconds());
  }
  return ranks.largest(median(seconds));
}

torch::Tensor random(int64_t rows, int64_t columns, torch::Dtype dtype, uint64_t seed) {
  return torch::randn({rows, columns}, at::detail::createCPUGenerator(seed), torch::kFloat32).to(dtype);
}

// S of an R-MAT graph in one process, and the time of a step of its recurrence on so many columns.
double seconds_of_step(const Ranks& ranks, int64_t nodes, int64_t edges, int64_t columns, torch::Dtype dtype,
                       uint64_t seed, int64_t& entries) {
  const Ranks alone(std::make_shared<OneProcess>());
  const Graph graph = rmat_graph(nodes, edges, seed);
  const auto rows = rows_in_memory(graph);
  const auto S = distributed_operator(alone, *rows, spread_rows(*rows, {1, 1}), {}, dtype);
  entries = S->entries();
  const auto Z = random(nodes, columns, dtype, seed), two = torch::full({columns}, 2, dtype);
  auto last = random(nodes, columns, dtype, seed + 1);
  return seconds_of(ranks, [&] { S->advance(false, Z, {}, two, two, 0, last); });
}

// The resident memory of this process, in bytes.
double resident() {
  std::ifstream file("/proc/self/statm");
  double size = 0, pages = 0;
  file >> size >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

std::unique_ptr<Solver> solver_on(const std::shared_ptr<const NodeOperator>& S, torch::Dtype dtype) {
  SolverOptions options;
  options.dtype = dtype;
  const auto own = std::make_shared<Propagation>(make_propagation(Graph::from_arcs(S->rows_here(), {}, {})));
  return make_sparse(own, options, S);
}

// Terms of the series for this F.
int64_t terms_for(const torch::Tensor& F, const SolverOptions& options) {
  const DecomposedContraction g(F.to(torch::kFloat64), options.gamma, options.epsilon);
  constexpr int64_t most = 100;
  return ResolventSeries(g.a, g.one_minus_a, backward_tolerance(options), most).terms();
}

// A step as training makes it, with another F each time, and the evaluation of some nodes.
void step(Solver& solver, torch::Tensor& F, const torch::Tensor& X, const torch::Tensor& C,
          const torch::Tensor& train, const torch::Tensor& val) {
  F = F * 0.999;
  const auto projection = solver.project(F, X, C);
  const auto f = projection->rows(train);
  projection->pull(train, f);
  projection->rows(val);
}

}  // namespace

ClusterParts measure_parts(const Ranks& ranks, int64_t features, int64_t classes, torch::Dtype dtype,
                           uint64_t seed) {
  ClusterParts out;
  const auto bytes = static_cast<double>(c10::elementSize(dtype));
  const int64_t columns = most_lines * cache_line / static_cast<int64_t>(c10::elementSize(dtype));
  {
    constexpr int64_t nodes = 200'000;  // whose rows are no longer in the processor's caches
    int64_t few = 0, many = 0;
    const double thin = seconds_of_step(ranks, nodes, 4 * nodes, columns, dtype, seed, few),
                 thick = seconds_of_step(ranks, nodes, 16 * nodes, columns, dtype, seed, many);
    const auto k = static_cast<double>(columns);
    out.entry = (thick - thin) / static_cast<double>(many - few) / k;
    out.row = std::max(0.0, thin / k - out.entry * static_cast<double>(few)) / nodes;
  }
  {
    // Each process fetches rows of the next one.
    const int64_t rows = 50'000;
    const auto next = static_cast<int32_t>((ranks.rank() + 1) % ranks.size());
    const auto time = [&](int64_t fetched) {
      std::vector<HaloPlace> places;
      for (int64_t k = 0; ranks.size() > 1 && k < fetched; ++k)
        places.push_back({next, static_cast<int32_t>(k)});
      const auto halo = ranks.transport()->halo(rows, places);
      const auto own = random(rows, columns, dtype, seed);
      auto others = torch::empty_like(own);
      return seconds_of(ranks, [&] {
        halo->fetch(own.data_ptr(), others.data_ptr(), columns * static_cast<int64_t>(bytes));
      });
    };
    const double large = time(rows);
    out.fetch = time(1);
    out.fetched_byte = std::max(0.0, large - out.fetch) / (static_cast<double>(rows * columns) * bytes);
  }
  {
    const auto time = [&](int64_t numbers) {
      const auto some = torch::ones({numbers}, torch::kFloat64);
      return seconds_of(
          ranks, [&] { ranks.sum(some); }, 20);
    };
    constexpr int64_t many = 100'000;
    out.sum = time(8);
    out.summed_byte = std::max(0.0, time(many) - out.sum) / (8.0 * many);
  }
  {
    const int64_t rows = 20'000;
    const auto T = random(rows, features, dtype, seed), C = random(features, classes, dtype, seed + 1);
    auto f = torch::zeros({rows, classes}, dtype);
    out.multiply_add =
        seconds_of(ranks, [&] { f.addmm_(T, C); }) / static_cast<double>(rows * features * classes);
  }
  {
    const int64_t nodes = 64 * ranks.size();
    const Graph graph = chain_graph(1, nodes);
    const auto rows = rows_in_memory(graph);
    const auto ranges = spread_rows(*rows, {ranks.size(), 1});
    const auto S = distributed_operator(ranks, *rows, ranges, {}, dtype);
    const auto solver = solver_on(S, dtype);
    const auto X = random(S->rows_here(), features, dtype, seed), C = random(features, classes, dtype, seed);
    auto F = random(features, features, dtype, seed);
    const auto one = torch::arange(ranks.is_first() ? 1 : 0);
    out.step = seconds_of(ranks, [&] { step(*solver, F, X, C, one, one); });
  }
  return out;
}

ClusterEstimate estimate(const ClusterParts& parts, const ClusterProblem& p, Grid grid) {
  const double R = static_cast<double>(grid.rows), C = static_cast<double>(grid.columns), P = R * C;
  const double rows = p.nodes / R, entries = p.entries / R, columns = p.features / C;
  const double halo = R == 1 ? 0 : p.halo >= 0 ? p.halo : std::min(p.nodes - rows, entries);
  const double sets = 2;  // of nodes, to train on and to validate on: each has products of its own
  const double products = sets * (p.terms - 1),
               blocks = std::ceil(columns * p.bytes_of_number / (most_lines * cache_line));
  ClusterEstimate out;
  out.fetched_bytes = products * halo * columns * p.bytes_of_number;
  out.preparation = products * (columns * (entries * parts.entry + rows * parts.row) +
                                (R > 1 ? blocks * (parts.fetch + parts.sum) : 0)) +
                    out.fetched_bytes * parts.fetched_byte;
  // Forward and back at the nodes that are trained on, forward at the others; T_p once more for R.
  out.epoch =
      parts.step + p.terms * p.features * p.classes * parts.multiply_add * (2 * p.trained + p.validated) / P;
  SpreadSize size;
  size.nodes = p.nodes;
  size.entries = p.entries;
  size.features = p.features;
  size.bytes_of_number = p.bytes_of_number;
  size.halo = halo;
  out.bytes = bytes_of_process(size, grid).training() +
              p.terms * (p.trained + p.validated) / P * p.features * p.bytes_of_number;
  return out;
}

ClusterMeasurement measure_cluster(const Ranks& ranks, Grid grid, int64_t nodes, int64_t edges,
                                   int64_t features, int64_t classes, torch::Dtype dtype, uint64_t seed,
                                   ClusterProblem& problem) {
  ClusterMeasurement out;
  std::shared_ptr<const NodeOperator> S;
  int64_t first = 0;
  double before = 0;
  {
    const Graph graph = rmat_graph(nodes, edges, seed);
    const auto rows = rows_in_memory(graph);
    const auto ranges = spread_rows(*rows, grid);
    before = resident();
    S = distributed_operator(ranks, *rows, ranges, {}, dtype);
    first = ranges.first_of_process[static_cast<size_t>(ranks.rank())];
  }
  const double with_S = resident();
  const auto solver = solver_on(S, dtype);
  const auto X = random(S->rows_here(), features, dtype, seed + static_cast<uint64_t>(first)),
             C = random(features, classes, dtype, seed);
  auto F = random(features, features, dtype, seed);
  constexpr int64_t one_in = 20;
  problem.terms = static_cast<double>(terms_for(F, solver->options()));
  const auto train = torch::arange(0, S->rows_here(), one_in), val = torch::arange(1, S->rows_here(), one_in);
  const double start = resident();
  ranks.sum(0.0);
  {
    const Stopwatch watch;
    step(*solver, F, X, C, train, val);
    out.preparation = ranks.largest(watch.seconds());
  }
  out.epoch = seconds_of(ranks, [&] { step(*solver, F, X, C, train, val); });
  out.preparation -= out.epoch;
  const ProductSize size = product_size(*S);
  out.bytes = ranks.largest(std::max(0.0, with_S - before) + std::max(0.0, resident() - start) +
                            static_cast<double>(X.nbytes()));
  problem.nodes = static_cast<double>(nodes);
  problem.entries = static_cast<double>(S->entries());
  problem.features = static_cast<double>(features);
  problem.classes = static_cast<double>(classes);
  problem.trained = static_cast<double>(ranks.sum(train.numel()));
  problem.validated = static_cast<double>(ranks.sum(val.numel()));
  problem.bytes_of_number = static_cast<double>(c10::elementSize(dtype));
  problem.halo = ranks.largest(static_cast<double>(size.fetched_rows));
  return out;
}

}  // namespace eignn
