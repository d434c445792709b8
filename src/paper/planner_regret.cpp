#include "paper/planner_regret.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "data/random_split.h"
#include "eignn/error.h"
#include "eignn/execution.h"
#include "equilibrium/stopwatch.h"
#include "graph/random_stream.h"
#include "run/provenance.h"
#include "run/recipes.h"
#include "train/assemble.h"
#include "train/plan_request.h"
#include "train/trainer.h"

namespace eignn {

namespace {

// Random features and labels of four classes; the share `labelled` of the nodes to train on, a tenth to
// validate.
Dataset random_dataset(const std::string& name, Graph graph, int64_t features, double labelled,
                       uint64_t seed) {
  Dataset set;
  set.name = name;
  set.graph = std::move(graph);
  const int64_t n = set.nodes();
  auto generator = at::detail::createCPUGenerator(stream_seed(seed, Stream::noise));
  set.classes = 4;
  set.labels = torch::randint(set.classes, {n}, generator, torch::kInt64);
  set.known = torch::ones({n}, torch::kBool);
  set.features = torch::empty({n, features}, torch::kFloat64).uniform_(-1, 1, generator);
  const auto order = permutation(n, seed);
  const int64_t train = std::max<int64_t>(1, static_cast<int64_t>(labelled * static_cast<double>(n)));
  const int64_t val = std::max<int64_t>(1, n / 10);
  set.splits.push_back({order.narrow(0, 0, train).clone(), order.narrow(0, train, val).clone(),
                        order.narrow(0, train + val, n - train - val).clone()});
  return set;
}

Graph grid_graph(int64_t side) {
  std::vector<int64_t> source, target;
  for (int64_t y = 0; y < side; ++y)
    for (int64_t x = 0; x < side; ++x)
      for (const auto& [dy, dx] : {std::pair<int64_t, int64_t>{0, 1}, {1, 0}})
        if (y + dy < side && x + dx < side) {
          source.push_back(y * side + x);
          target.push_back((y + dy) * side + x + dx);
        }
  return Graph::from_arcs(side * side, source, target);
}

// A binary tree: the parent of node v is (v - 1)/2.
Graph tree_graph(int64_t nodes) {
  std::vector<int64_t> source, target;
  for (int64_t v = 1; v < nodes; ++v) {
    source.push_back((v - 1) / 2);
    target.push_back(v);
  }
  return Graph::from_arcs(nodes, source, target);
}

class Problems {
 public:
  Problems(const TrainConfig& config, bool quick) : base_(config), quick_(quick) {}

  using Change = std::function<void(TrainConfig&)>;

  // A named data set with its recipe.
  void real(const std::string& name, const char* variant, bool slow, const Change& change = {}) {
    TrainConfig c = base_;
    c.dataset = name;
    apply_recipe(c, {"solver", "device", "dtype", "threads", "seed"});
    add(name + variant, c, slow, change, [](const TrainConfig& config) { return load_dataset(config); });
  }

  void generated(const std::string& name, const std::function<Graph(uint64_t)>& graph, int64_t features,
                 double labelled, bool slow, const Change& change = {}) {
    add(name, base_, slow, change, [name, graph, features, labelled](const TrainConfig& c) {
      return random_dataset(name, graph(c.seed), features, labelled, c.seed);
    });
  }

  std::vector<PlannerProblem> all;

 private:
  void add(const std::string& name, TrainConfig c, bool slow, const Change& change,
           std::function<Dataset(const TrainConfig&)> load) {
    if (slow && quick_) return;
    c.eignn().solver = "auto";
    if (change) change(c);
    all.push_back({name, c, std::move(load)});
  }

  TrainConfig base_;
  bool quick_;
};

const auto rmat = [](int64_t nodes, int64_t edges_per_node) {
  return [=](uint64_t seed) { return rmat_graph(nodes, nodes * edges_per_node, seed); };
};

}  // namespace

std::vector<PlannerProblem> planner_problems(const TrainConfig& config, bool quick) {
  Problems p(config, quick);
  const auto encoder = [](int64_t width) { return [=](TrainConfig& c) { c.eignn().encoder = width; }; };
  const auto undirected = [](TrainConfig& c) {
    const TrainConfig paper;
    c.propagation = paper.propagation;
    c.eignn().gamma = paper.eignn().gamma;
  };
  const auto with = [](const char* head, double gamma = 0.8, const char* direction = "undirected",
                       int64_t width = 0) {
    return [=](TrainConfig& c) {
      assign(c, "head", head);
      c.eignn().gamma = gamma;
      assign(c, "direction", direction);
      c.eignn().encoder = width;
    };
  };
  const auto path = [](int64_t nodes) { return [=](uint64_t) { return chain_graph(1, nodes); }; };
  const auto grid = [](int64_t side) { return [=](uint64_t) { return grid_graph(side); }; };

  p.real("karate", "", false);
  p.real("chains", " 100 hops", false);
  p.real("chains", " 10 hops, encoder 64", false, [](TrainConfig& c) {
    c.chain_length = 10;
    c.eignn().encoder = 64;
  });
  p.real("chains", " 200 hops, noise", true, [](TrainConfig& c) {
    c.chain_length = 200;
    c.noise = 0.01;
  });
  p.real("cornell", "", true);
  p.real("texas", "", false);
  p.real("texas", ", encoder 64", false, encoder(64));
  p.real("wisconsin", "", true);
  p.real("chameleon", "", true);
  p.real("chameleon", " undirected", true, undirected);
  p.real("chameleon", " undirected, encoder 64", true, [=](TrainConfig& c) {
    undirected(c);
    c.eignn().encoder = 64;
  });
  p.real("squirrel", "", true);
  p.real("squirrel", " undirected", true, undirected);
  p.real("film", "", true);
  p.real("film", ", l2, encoder 32", true, with("l2", 0.8, "undirected", 32));

  p.generated("rmat 100, m 16, plain", rmat(100, 5), 16, 0.3, false);
  p.generated("rmat 400, encoder 64", rmat(400, 10), 100, 0.3, false, with("plain", 0.8, "undirected", 64));
  p.generated("rmat 1000, m 64, l2", rmat(1000, 10), 64, 0.5, false, with("l2"));
  p.generated("rmat 1000, m 512, plain", rmat(1000, 10), 512, 0.1, true);
  p.generated("rmat 2000 dense, m 16, l2", rmat(2000, 60), 16, 0.6, false, with("l2"));
  p.generated("rmat 3000, m 64, batch norm, gamma 1", rmat(3000, 10), 64, 0.5, true, with("batch-norm", 1));
  p.generated("rmat 3000, m 64, directed, l2", rmat(3000, 10), 64, 0.3, false, with("l2", 0.8, "in"));
  p.generated("rmat 10000, m 64, plain", rmat(10'000, 10), 64, 0.05, true);
  p.generated("rmat 10000, encoder 64, gamma 1", rmat(10'000, 10), 64, 0.3, true,
              with("plain", 1, "undirected", 64));
  p.generated("rmat 10000, directed, encoder 32", rmat(10'000, 5), 64, 0.3, true, with("l2", 0.8, "in", 32));
  p.generated("rmat 100000, m 64, plain", rmat(100'000, 10), 64, 0.05, true);
  p.generated("rmat 100000, m 32, batch norm", rmat(100'000, 5), 32, 0.1, true, with("batch-norm"));
  p.generated("grid 30, m 16, plain", grid(30), 16, 0.3, false);
  p.generated("grid 100, m 32, l2", grid(100), 32, 0.2, true, with("l2"));
  p.generated("path 100000, m 16, plain", path(100'000), 16, 0.05, true);
  p.generated("path 1000, encoder 32", path(1000), 32, 0.2, false, with("l2", 0.8, "undirected", 32));
  p.generated(
      "tree 1023, m 32, l2, gamma 1", [](uint64_t) { return tree_graph(1023); }, 32, 0.3, false,
      with("l2", 1));
  p.generated(
      "tree 4095, m 32, directed, l2", [](uint64_t) { return tree_graph(4095); }, 32, 0.3, false,
      with("l2", 0.8, "in"));
  return p.all;
}

namespace {

// Prepares the solver and times a few epochs. Iterative solvers take the most products in the first epochs,
// so ten of them, or a third of the time limit, are not counted.
SolverTiming time_solver(const std::string& solver, TrainConfig config, const Dataset& dataset,
                         double limit_s) {
  config.eignn().solver = solver;
  SolverTiming out;
  out.solver = solver;
  constexpr int64_t warm_up = 10, most = 30;
  const Stopwatch watch;
  Trainer trainer(config, dataset, 0, nullptr);
  int64_t done = 0;
  const auto epoch = [&] {
    const Stopwatch one;
    trainer.step(done++);
    trainer.evaluate(trainer.split().val);
    return one.seconds();
  };
  epoch();
  const double first = watch.seconds();
  while (done < warm_up && watch.seconds() - first < limit_s / 3) epoch();
  std::vector<double> seconds;
  const Stopwatch timed;
  do seconds.push_back(epoch());
  while (static_cast<int64_t>(seconds.size()) < most && timed.seconds() < limit_s / 4);
  out.epochs = static_cast<int64_t>(seconds.size());
  out.epoch_ms = 1e3 * median(seconds);
  out.preparation_s = std::max(0.0, first - 1e-3 * out.epoch_ms);
  return out;
}

}  // namespace

PlannerRegret measure_planner(const PlannerProblem& problem, double limit_s) {
  const Execution execution(problem.config);
  const Dataset dataset = problem.load(problem.config);
  PlannerRegret out;
  out.problem = problem.name;
  out.nodes = dataset.nodes();
  out.arcs = dataset.graph.arcs();
  {
    const auto graphs = graph_matrices(dataset, problem.config);
    const Stopwatch watch;
    const PlanRequest request = plan_request(graphs, dataset, problem.config);
    out.plan = plan_solver(request);
    out.planning_s = watch.seconds();
    out.width = request.width;
    out.epochs = request.epochs;
  }
  for (const Price& price : out.plan.prices) {
    SolverTiming timing;
    timing.solver = price.solver;
    // Three epochs and the preparation.
    const double promised = price.seconds(3);
    if (!price.refused.empty())
      timing.left_out = price.refused;
    else if (price.solver != out.plan.solver && promised > limit_s)
      timing.left_out = fmt::format("three epochs would take some {:.0f} s", promised);
    else
      try {
        timing = time_solver(price.solver, problem.config, dataset, limit_s);
      } catch (const Error& error) {
        timing.left_out = error.what();
      }
    out.timings.push_back(timing);
  }
  double least = std::numeric_limits<double>::infinity(), least_epoch = least, chosen = 0, chosen_epoch = 0;
  for (const SolverTiming& timing : out.timings) {
    if (!timing.left_out.empty()) continue;
    const double seconds = timing.seconds(out.epochs);
    if (seconds < least) {
      least = seconds;
      out.fastest = timing.solver;
    }
    least_epoch = std::min(least_epoch, timing.epoch_ms);
    if (timing.solver != out.plan.solver) continue;
    chosen = seconds;
    chosen_epoch = timing.epoch_ms;
  }
  out.regret = chosen / least;
  out.epoch_regret = chosen_epoch / least_epoch;
  return out;
}

}  // namespace eignn
