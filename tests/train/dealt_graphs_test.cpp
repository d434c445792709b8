// Training on sets of several graphs that are dealt to threads, against training in one process.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <random>
#include <sstream>

#include "eignn/error.h"
#include "support/message_of.h"
#include "support/spread_runs.h"
#include "support/temporary_folder.h"
#include "train/assemble.h"

namespace eignn {
namespace {

using test::config_of;
using test::expect_alike;
using test::in_one;
using test::in_threads;
using test::on_grid;
using test::Outcome;
using test::Settings;

constexpr int64_t graphs = 7, classes = 3;

// Random graphs of different sizes whose nodes are not in order: four to train on, one to validate, two to
// test.
Dataset several_graphs(const std::string& kind) {
  std::mt19937_64 random(3);
  std::vector<int64_t> graph_of;
  for (int64_t g = 0; g < graphs; ++g) graph_of.insert(graph_of.end(), static_cast<size_t>(6 + 3 * g), g);
  std::rotate(graph_of.begin(), graph_of.begin() + 20, graph_of.end());  // one graph has both ends
  const auto n = static_cast<int64_t>(graph_of.size());
  std::vector<int64_t> source, target;
  std::vector<double> weight;
  while (source.size() < 220) {
    const auto a = static_cast<int64_t>(random() % n), b = static_cast<int64_t>(random() % n);
    if (graph_of[a] != graph_of[b]) continue;
    source.push_back(a);
    target.push_back(b);
    if (kind == "weights") weight.push_back(0.25 + static_cast<double>(random() % 7));
  }
  auto generator = at::detail::createCPUGenerator(4);
  const auto X = torch::randn({n, 5}, generator, torch::kFloat64);
  auto labels = torch::randint(0, classes, {n}, generator, torch::kInt64);
  if (kind == "sets") labels = torch::randint(0, 2, {n, classes}, generator, torch::kInt64).to(torch::kUInt8);
  Dataset data = make_dataset(Graph::from_arcs(n, source, target, weight), X, labels);
  data.name = "several";
  data.graph_of = graph_of;
  std::vector<int64_t> part[3];
  for (int64_t v = 0; v < n; ++v) part[graph_of[v] < 4 ? 0 : graph_of[v] == 4 ? 1 : 2].push_back(v);
  data.splits = {{torch::tensor(part[0]), torch::tensor(part[1]), torch::tensor(part[2])}};
  if (kind != "numbers") return data;
  data.labels = torch::randn({n, 2}, generator, torch::kFloat64);
  data.classes = 2;
  return data;
}

class DealtGraphs : public testing::TestWithParam<std::pair<const char*, Settings>> {};

TEST_P(DealtGraphs, HaveTheLossesOfOneProcess) {
  Settings settings = GetParam().second;
  std::string kind = "classes";
  if (settings.count("kind")) kind = settings["kind"];
  settings.erase("kind");
  settings.emplace("solver", "auto");
  const TrainConfig config = config_of(settings);
  const Dataset data = prepared(several_graphs(kind), config);
  const Outcome one = in_one(config, "", &data);
  for (const int64_t processes : {2, 3, 7}) {  // seven: a graph each, so that most have none of a batch
    SCOPED_TRACE(processes);
    expect_alike(on_grid(config, {processes, 1}, "", &data), one,
                 config.dtype == Precision::float64 ? 1e-10 : 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Settings, DealtGraphs,
    testing::Values(
        std::pair("Plain", Settings{}), std::pair("PlainBatchesOfOne", Settings{{"batch-graphs", "1"}}),
        std::pair("UnitRows", Settings{{"head", "l2"}, {"dropout", "0.5"}, {"batch-graphs", "3"}}),
        std::pair("BatchNorm", Settings{{"head", "batch-norm"}, {"intercept", "on"}, {"dropout", "0.3"}}),
        std::pair("LayerNorm", Settings{{"norm", "layer"}, {"equilibria", "2"}}),
        std::pair("Residual", Settings{{"head", "residual"},
                                       {"width", "8"},
                                       {"blocks", "2"},
                                       {"dropout", "0.2"},
                                       {"equilibria", "2"},
                                       {"kind", "sets"}}),
        std::pair("ResidualBehindAnEncoder", Settings{{"head", "residual"},
                                                      {"width", "8"},
                                                      {"blocks", "1"},
                                                      {"encoder", "4"},
                                                      {"batch-graphs", "2"}}),
        std::pair("FixedF", Settings{{"head", "batch-norm"}, {"lr-propagation", "0"}}),
        std::pair("Directed", Settings{{"direction", "in"}, {"normalise", "out-in"}, {"solver", "sparse"}}),
        std::pair("Neighbours", Settings{{"source", "both"}, {"solver", "direct"}}),
        std::pair("ThinF", Settings{{"rank", "2"}, {"head", "batch-norm"}}),
        std::pair("Weights", Settings{{"kind", "weights"}, {"solver", "krylov"}}),
        std::pair("Numbers", Settings{{"kind", "numbers"}, {"clip", "0.5"}}),
        std::pair("BalancedClasses", Settings{{"class-weights", "balanced"}}),
        std::pair("Float32", Settings{{"dtype", "float32"}, {"head", "batch-norm"}})),
    [](const auto& which) { return which.param.first; });

TEST(DealtGraphs, WriteOneFileInTheOrderOfTheDataSet) {
  const TemporaryFolder folder;
  const TrainConfig config = config_of({{"head", "batch-norm"}});
  const Dataset data = prepared(several_graphs("classes"), config);
  in_one(config, folder.path("one"), &data);
  on_grid(config, {3, 1}, folder.path("three"), &data);
  const auto lines = [&](const std::string& run) {
    std::istringstream text(test::text_of(folder.path(run + "/predictions.csv")));
    std::vector<std::string> out;
    for (std::string line; std::getline(text, line);)
      out.push_back(line.substr(0, line.find_last_of(',') - 8));
    return out;
  };
  EXPECT_EQ(lines("three").size(), static_cast<size_t>(data.nodes()) + 1);
  EXPECT_EQ(lines("three"), lines("one"));
  EXPECT_TRUE(load_model(folder.path("three")).recognise(data).unchanged);
}

TEST(DealtGraphs, RefuseMoreProcessesThanGraphsAndPartsOfColumns) {
  const TrainConfig config = config_of({{"solver", "auto"}});
  const Dataset data = prepared(several_graphs("classes"), config);
  EXPECT_EQ(message_of<ArgumentError>([&] {
              on_grid(config, {8, 1}, "", &data);
            }),
            "8 processes have 7 graphs to share (ranks); start fewer of them");
  EXPECT_EQ(message_of<ArgumentError>([&] {
              on_grid(config, {1, 2}, "", &data);
            }),
            "several has several graphs, which are dealt whole (grid); leave it out");
  EXPECT_CONTAINS(message_of<ArgumentError>([&] {
                    on_grid(config, {2, 1}, "", &data, false, NodeOrder::bfs);
                  }),
                  "which are dealt whole (order)");
  EXPECT_CONTAINS(message_of<ArgumentError>([&] {
                    on_grid(config_of({{"solver", "truncated"}}), {2, 1}, "", &data);
                  }),
                  "the solver truncated cannot be spread over processes (solver)");
}

TEST(Dealt, GivesTheLargestFirstToTheProcessThatHasLeast) {
  EXPECT_EQ(dealt({1, 5, 3, 3}, 2), (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(dealt({2, 2, 2}, 5), (std::vector<int>{0, 1, 2}));
  EXPECT_TRUE(dealt({}, 3).empty());
}

}  // namespace
}  // namespace eignn
