#include "paper/measure_scaling.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/random_split.h"
#include "data/sparse_tensor.h"
#include "eignn/error.h"
#include "eignn/execution.h"
#include "equilibrium/contraction.h"
#include "equilibrium/feature_product.h"
#include "equilibrium/stopwatch.h"
#include "equilibrium/tolerance.h"
#include "graph/random_stream.h"
#include "models/sparse_features.h"
#include "paper/names.h"
#include "run/provenance.h"
#include "train/assemble.h"
#include "train/trainer.h"

namespace eignn {

namespace {

Graph make_graph(const ScalingPoint& p, uint64_t seed) {
  if (p.graph == "chains") return chain_graph(p.components, p.nodes / p.components);
  return rmat_graph(p.nodes, p.nodes * p.edges_per_node, seed);
}

// Bags of words, of so many words a node; with one of as many as there are nodes, the identity.
torch::Tensor few_entries(const ScalingPoint& p, uint64_t seed) {
  SparseRows rows;
  const uint64_t stream = stream_seed(seed, Stream::noise);
  std::vector<int64_t> words(static_cast<size_t>(p.entries));
  uint64_t draws = 0;
  for (int64_t v = 0; v < p.nodes; ++v) {
    for (int64_t& word : words)
      word = p.features == p.nodes && p.entries == 1
                 ? v
                 : static_cast<int64_t>(stream_seed(stream, Stream::noise, draws++) %
                                        static_cast<uint64_t>(p.features));
    std::sort(words.begin(), words.end());
    const auto end = std::unique(words.begin(), words.end());
    rows.column.insert(rows.column.end(), words.begin(), end);
    rows.begin.push_back(static_cast<int64_t>(rows.column.size()));
  }
  rows.value.assign(rows.column.size(), 1 / static_cast<double>(p.entries));
  return sparse_tensor(rows, {p.nodes, p.features});
}

Dataset make_dataset(const ScalingPoint& p, uint64_t seed) {
  Dataset set;
  set.name = p.graph;
  set.graph = make_graph(p, seed);
  const int64_t n = set.nodes();
  auto generator = at::detail::createCPUGenerator(stream_seed(seed, Stream::noise));
  set.classes = 4;
  set.labels = torch::randint(set.classes, {n}, generator, torch::kInt64);
  set.known = torch::ones({n}, torch::kBool);
  set.features = p.entries == 0 ? torch::empty({n, p.features}, torch::kFloat64).uniform_(-1, 1, generator)
                                : few_entries(p, seed);
  const auto order = permutation(n, seed);
  const int64_t train = std::max<int64_t>(1, n / 20), val = std::max<int64_t>(1, n / 10);
  set.splits.push_back({order.narrow(0, 0, train).clone(), order.narrow(0, train, val).clone(),
                        order.narrow(0, train + val, n - train - val).clone()});
  return set;
}

// Always the same few epochs, because the number of iterations depends on the weights, which change.
void time_epochs(Trainer& trainer, ScalingMeasurement& out) {
  constexpr int64_t most_epochs = 3;
  constexpr double patience = 100;  // seconds
  std::vector<double> seconds;
  const Stopwatch since_start;
  trainer.step(0);
  out.first_epoch_s = since_start.seconds();
  for (int64_t epoch = 1; epoch <= most_epochs; ++epoch) {
    const Stopwatch watch;
    trainer.step(epoch);
    seconds.push_back(watch.seconds());
    if (since_start.seconds() > patience) break;
  }
  out.epoch_s = median(seconds);
  out.epochs = static_cast<int64_t>(seconds.size());
}

// Whether the solver finishes in reasonable time at this point.
bool is_feasible(const ScalingPoint& p) {
  const std::string& solver = p.solver;
  const int64_t largest = p.graph == "chains" ? p.nodes / p.components : p.nodes;
  if (solver == "direct") return p.graph == "chains" ? p.features <= 64 : p.nodes <= 1000;
  if (solver == "spectral" || solver == "krylov")
    return largest <= 3000 && (solver == "krylov" || p.features <= 1024);
  if (solver == "picard") return p.nodes <= 300'000 && p.nodes * p.features * p.features <= 11'000'000'000;
  return true;
}

}  // namespace

int64_t ScalingPoint::position() const {
  return axis == "features"     ? features
         : axis == "density"    ? edges_per_node
         : axis == "components" ? components
         : axis == "wide"       ? features
                                : nodes;
}

std::vector<ScalingPoint> scaling_points(const std::string& axis, int64_t up_to,
                                         const std::vector<std::string>& solvers) {
  std::vector<ScalingPoint> points;
  if (axis == "all") {
    for (const auto& one : scaling_axes())
      for (const auto& point : scaling_points(one, up_to, solvers)) points.push_back(point);
    return points;
  }
  const auto add = [&](const char* graph, int64_t n, int64_t m, int64_t density, int64_t components,
                       int64_t entries = 0, int64_t rank = -1) {
    for (const std::string& solver : solvers)
      if (const ScalingPoint point{axis, graph, n, m, density, components, solver, entries, rank};
          n <= up_to && is_feasible(point))
        points.push_back(point);
  };
  if (axis == "nodes")
    for (const char* graph : {"rmat", "chains"})
      for (int64_t n : {1'000, 3'000, 10'000, 30'000, 100'000, 300'000, 1'000'000}) add(graph, n, 64, 10, 1);
  // The other axes use a graph of medium size.
  const int64_t fixed = std::min<int64_t>(up_to, 10'000), larger = std::min<int64_t>(up_to, 100'000);
  if (axis == "features")
    for (int64_t m : {16, 64, 256, 1024, 4096}) add("rmat", fixed, m, 10, 1);
  if (axis == "density")
    for (int64_t density : {2, 5, 10, 20, 50}) add("rmat", larger, 64, density, 1);
  if (axis == "components")
    for (int64_t components = 1; components <= larger / 10; components *= 10)
      add("chains", larger, 64, 1, components);
  constexpr int64_t rank = 32, words = 100;
  if (axis == "wide")
    for (int64_t m : {10'000, 100'000, 1'000'000}) add("rmat", larger, m, 10, 1, words, rank);
  if (axis == "identity")
    for (int64_t n : {1'000, 10'000, 100'000}) add("rmat", n, n, 10, 1, 1, rank);
  return points;
}

namespace {

// ‖(Z - γ Sᵀ Z g - X) C‖ / ‖X C‖ for eight random columns C.
double projected_residual(const Propagation& S, const Equilibrium& solved, const torch::Tensor& F,
                          const torch::Tensor& X, const SolverOptions& options, uint64_t seed) {
  const FeatureProduct features(X);
  auto generator = at::detail::createCPUGenerator(seed);
  const auto C = torch::randn({X.size(1), 8}, generator, torch::kFloat64).to(options.dtype);
  const auto gC = times_g(C.t().contiguous(), F, options.epsilon).t().contiguous();
  const SparseProduct product(S, options.dtype, torch::kCPU);
  const auto XC = features.times(C);
  const auto gap = solved.project({}, C) - options.gamma * product.gather(solved.project({}, gC)) - XC;
  return (gap.norm() / XC.norm()).item<double>();
}

}  // namespace

ScalingMeasurement measure_scaling(const ScalingPoint& point, TrainConfig config) {
  const Execution execution(config);
  config.eignn().solver = point.solver;
  config.eignn().rank = point.rank;
  ScalingMeasurement out;
  out.start_memory_bytes = peak_memory_bytes();
  Dataset dataset = make_dataset(point, config.seed);
  out.edges = dataset.graph.arcs();
  torch::Tensor F, C;
  {
    const Stopwatch watch;
    Trainer trainer(config, dataset, 0, nullptr);
    out.preprocess_s = watch.seconds();
    time_epochs(trainer, out);
    out.peak_memory_bytes = peak_memory_bytes();
    F = trainer.model().propagation_weights().at(0).detach().clone();
    C = trainer.model().named_parameters()["B"].detach().t().clone();
  }
  // The residual in float64 takes more memory than an epoch, so it is computed after the peak was read.
  const SolverOptions options = solver_options(config);
  const auto X = in_type(dataset.features, torch::dtype(options.dtype));
  dataset.features = torch::Tensor();
  auto S = std::make_shared<Propagation>(make_propagation(dataset, config));
  const auto solver = make_solver(point.solver, S, options, F.size(0));
  const auto solved = solver->solve(F, X);
  if (X.is_sparse()) {
    constexpr int64_t shown = 10;  // rows of Z that fit into memory
    const auto& train = dataset.splits[0].train;
    const auto some = train.narrow(0, 0, std::min(shown, train.numel()));
    const auto scores = solved->rows(some).plain().mm(C);
    out.labelled_difference = ((solved->project(some, C) - scores).norm() / scores.norm()).item<double>();
    out.residual = projected_residual(*S, *solved, F, X, options, config.seed);
    out.iterations = solved->iterations();
    return out;
  }
  const auto Z = solved->rows().plain();
  out.iterations = solved->iterations();
  const auto scores = Z.index_select(0, dataset.splits[0].train).mm(C);
  out.labelled_difference =
      ((solved->project(dataset.splits[0].train, C) - scores).norm() / scores.norm()).item<double>();
  out.residual = residual(*S, Z, F, X, options.gamma, options.epsilon);
  if (point.solver == "sparse" || point.solver == "picard")
    out.residual_bound = backward_tolerance(options) * (1 + (Z.norm() / X.norm()).item<double>());
  return out;
}

double fitted_exponent(const std::vector<double>& x, const std::vector<double>& y) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (size_t k = 0; k < x.size(); ++k) {
    const double u = std::log(x[k]), v = std::log(y[k]);
    ++n;
    sx += u;
    sy += v;
    sxx += u * u;
    sxy += u * v;
  }
  const double spread = n * sxx - sx * sx;
  return spread > 1e-9 ? (n * sxy - sx * sy) / spread : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace eignn
