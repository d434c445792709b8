// Training on nodes spread over threads, on every grid, against training in one process.
#include "train/spread.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <random>
#include <sstream>

#include "data/shard_writer.h"
#include "data/streamed_dataset.h"
#include "eignn/error.h"
#include "report/spread_inspection.h"
#include "run/terms_folder.h"
#include "run/train_run.h"
#include "support/datasets.h"
#include "support/message_of.h"
#include "support/spread_runs.h"
#include "support/temporary_folder.h"
#include "support/thread_transport.h"

namespace eignn {
namespace {

using test::in_threads;

using test::config_of;
using test::expect_alike;
using test::in_one;
using test::noting;
using test::on_grid;
using test::Outcome;
using test::Settings;
using test::text_of;

std::vector<Grid> grids() {
  return {{2, 1}, {1, 2}, {3, 1}, {2, 2}, {1, 4}};
}

class SpreadTraining : public testing::TestWithParam<std::pair<const char*, Settings>> {};

TEST_P(SpreadTraining, HasTheLossesOfOneProcess) {
  const TrainConfig config = config_of(GetParam().second);
  const Outcome one = in_one(config);
  for (const Grid grid : grids()) {
    SCOPED_TRACE(std::to_string(grid.rows) + "x" + std::to_string(grid.columns));
    expect_alike(on_grid(config, grid), one, config.dtype == Precision::float64 ? 1e-12 : 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Settings, SpreadTraining,
    testing::Values(std::pair("Plain", Settings{}), std::pair("Float32", Settings{{"dtype", "float32"}}),
                    std::pair("Directed", Settings{{"direction", "in"}, {"normalise", "out-in"}}),
                    std::pair("UnitRows", Settings{{"head", "l2"}, {"dropout", "0.5"}}),
                    std::pair("BatchNorm", Settings{{"head", "batch-norm"}, {"intercept", "on"}}),
                    std::pair("Encoder", Settings{{"encoder", "5"}, {"encoder-activation", "relu"}}),
                    std::pair("ScaledFeatures", Settings{{"feature-norm", "standard"}, {"clip", "0.5"}}),
                    std::pair("BalancedClasses", Settings{{"class-weights", "balanced"}}),
                    std::pair("SeveralF", Settings{{"equilibria", "2"}, {"norm", "layer"}}),
                    std::pair("Chains", Settings{{"dataset", "chains"},
                                                 {"chain-length", "12"},
                                                 {"chains-per-class", "5"},
                                                 {"direction", "undirected"}}),
                    std::pair("FixedF", Settings{{"lr-propagation", "0"}})),
    [](const auto& which) { return which.param.first; });

// Weights of arcs, and labels of each kind.
Dataset own_data(const std::string& kind) {
  Dataset base = load("karate");
  Graph graph = base.graph;
  for (int64_t a = 0; a < graph.arcs(); ++a) graph.weight.push_back(0.5 + static_cast<double>(a % 5));
  torch::Tensor labels = base.labels;
  if (kind == "sets")
    labels = torch::stack({base.labels.eq(0), base.labels.eq(1), base.labels.eq(1)}, 1).to(torch::kUInt8);
  Dataset data = make_dataset(graph, base.features, labels);
  if (kind != "numbers") return data;
  data.labels = torch::stack({base.labels.to(torch::kFloat64), 3 + base.labels * 2.5}, 1).to(torch::kFloat64);
  data.classes = 2;
  return data;
}

TEST(SpreadTraining, TakesWeightsOfArcsAndEveryKindOfLabel) {
  const TrainConfig config = config_of({});
  for (const std::string kind : {"classes", "sets", "numbers"}) {
    SCOPED_TRACE(kind);
    const Dataset data = prepared(own_data(kind), config);
    const Outcome one = in_one(config, "", &data);
    expect_alike(on_grid(config, {3, 1}, "", &data), one, 1e-12);
    expect_alike(on_grid(config, {2, 2}, "", &data), one, 1e-12);
  }
}

// More nodes than are added up at a time, on every grid of up to four processes.
TEST(SpreadTraining, AgreesOnAPowerLawGraphInBothPrecisions) {
  constexpr int64_t nodes = 6000;
  auto generator = at::detail::createCPUGenerator(1);
  auto labels = torch::randint(0, 3, {nodes}, generator, torch::kInt64);
  labels.masked_fill_(torch::rand({nodes}, generator) > 0.1, -1);
  const Dataset raw = make_dataset(rmat_graph(nodes, 40'000, /*seed=*/1),
                                   torch::randn({nodes, 24}, generator, torch::kFloat64), labels);
  for (const std::string dtype : {"float64", "float32"}) {
    for (const std::string head : {"plain", "batch-norm", "l2"}) {
      const TrainConfig config = config_of({{"dtype", dtype}, {"head", head}, {"epochs", "8"}});
      const Dataset data = prepared(raw, config);
      const Outcome one = in_one(config, "", &data);
      for (const Grid grid :
           {Grid{1, 1}, Grid{2, 1}, Grid{1, 2}, Grid{3, 1}, Grid{1, 3}, Grid{4, 1}, Grid{2, 2}, Grid{1, 4}}) {
        SCOPED_TRACE(dtype + " " + head + " " + std::to_string(grid.rows) + "x" +
                     std::to_string(grid.columns));
        expect_alike(on_grid(config, grid, "", &data), one, dtype == "float64" ? 1e-12 : 1e-6);
      }
    }
  }
}

// A folder of shards with random arcs, three features and labels with gaps.
void write_shards(const std::string& path, bool weighted) {
  constexpr int64_t nodes = 61;
  std::mt19937_64 random(5);
  RawDataset set;
  set.name = "set";
  set.format = "test";
  set.path = "memory";
  set.arcs.nodes = nodes;
  for (int64_t a = 0; a < 150; ++a) {
    set.arcs.source.push_back(static_cast<int64_t>(random() % nodes));
    set.arcs.target.push_back(static_cast<int64_t>(random() % nodes));
    if (weighted) set.arcs.weight.push_back(static_cast<double>(1 + random() % 7) / 4);
  }
  std::vector<float> features;
  for (int64_t k = 0; k < 3 * nodes; ++k) features.push_back(static_cast<float>(random() % 1000) / 500);
  set.features = array_of({nodes, 3}, features);
  for (int64_t v = 0; v < nodes; ++v)
    set.labels.push_back(v % 7 == 0 ? -1 : static_cast<int64_t>(random() % 3));
  set.classes = 3;
  NodeSplit split;
  for (int64_t v = 0; v < nodes; ++v)
    (v % 3 == 0 ? split.train : v % 3 == 1 ? split.val : split.test).push_back(v);
  set.splits.push_back(split);
  ShardOptions options;
  options.shards = 4;
  write_sharded(streamed(std::move(set)), path, options);
}

TEST(SpreadTraining, ReadsItsOwnRowsOfShards) {
  const TemporaryFolder folder;
  for (const bool weighted : {false, true}) {
    const std::string path = folder.path(weighted ? "weighted" : "plain");
    write_shards(path, weighted);
    for (const Settings& more :
         {Settings{}, Settings{{"direction", "out"}, {"normalise", "out-in"}},
          Settings{{"feature-norm", "standard"}, {"dropout", "0.3"}, {"head", "l2"}}}) {
      Settings settings = more;
      settings["dataset"] = path;
      const TrainConfig config = config_of(settings);
      const Outcome one = in_one(config);
      for (const Grid grid : {Grid{2, 1}, Grid{4, 1}, Grid{1, 2}})
        expect_alike(on_grid(config, grid), one, 1e-12);
    }
  }
  // Predictions are called by the numbers of all nodes.
  const TrainConfig config = config_of({{"dataset", folder.path("plain")}});
  on_grid(config, {3, 1}, folder.path("run"));
  std::istringstream lines(text_of(folder.path("run/predictions.csv")));
  std::string line;
  std::getline(lines, line);
  for (int64_t v = 0; v < 61; ++v) {
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_EQ(line.substr(0, line.find(',')), std::to_string(v));
  }
  EXPECT_FALSE(load_model(folder.path("run")).recognise(load(folder.path("plain"))).remembers);
  EXPECT_CONTAINS(message_of<ArgumentError>([&] {
                    on_grid(config, {3, 1}, "", nullptr, false, NodeOrder::bfs);
                  }),
                  "keep their order (order)");
}

// The lines of predictions.csv, probabilities without their last digits.
std::vector<std::string> predictions(const std::string& run) {
  std::istringstream text(text_of(run + "/predictions.csv"));
  std::vector<std::string> out;
  for (std::string line; std::getline(text, line);) out.push_back(line.substr(0, line.find_last_of(',') - 8));
  return out;
}

TEST(SpreadTraining, WritesTheFolderOfOneProcess) {
  const TemporaryFolder folder;
  const TrainConfig config = config_of({});
  in_one(config, folder.path("one"));
  on_grid(config, {2, 2}, folder.path("four"));
  EXPECT_EQ(text_of(folder.path("four/config.toml")), text_of(folder.path("one/config.toml")));
  EXPECT_EQ(predictions(folder.path("four")), predictions(folder.path("one")));
  EXPECT_TRUE(std::filesystem::exists(folder.path("four/summary.json")));
  const auto model = load_model(folder.path("four")), other = load_model(folder.path("one"));
  EXPECT_TRUE(model.weights().at("F").allclose(other.weights().at("F"), 1e-9, 1e-12));
  EXPECT_TRUE(model.recognise(prepared(load("karate"), config)).unchanged);
}

TEST(SpreadTraining, TakesTheNodesInAnotherOrder) {
  const TemporaryFolder folder;
  for (const Settings& settings :
       {Settings{{"dropout", "0.3"}, {"head", "l2"}}, Settings{{"head", "batch-norm"}}}) {
    const TrainConfig config = config_of(settings);
    const Outcome one = in_one(config, folder.path("one"));
    for (const NodeOrder order : {NodeOrder::bfs, NodeOrder::ptscotch}) {
      for (const Grid grid : {Grid{3, 1}, Grid{2, 2}}) {
        SCOPED_TRACE(std::string(name(order)) + " " + std::to_string(grid.rows) + "x" +
                     std::to_string(grid.columns));
        expect_alike(on_grid(config, grid, folder.path("other"), nullptr, false, order), one, 1e-11);
        EXPECT_EQ(predictions(folder.path("other")), predictions(folder.path("one")));
        EXPECT_TRUE(load_model(folder.path("other")).recognise(prepared(load("karate"), config)).unchanged);
        std::filesystem::remove_all(folder.path("other"));
      }
    }
    std::filesystem::remove_all(folder.path("one"));
  }
}

TEST(SpreadTraining, GoesOnWithAnInterruptedRunOnAnotherGrid) {
  const TemporaryFolder folder;
  const TrainConfig config = config_of({});
  const Outcome whole = in_one(config);
  const auto interrupt_after = [&](int64_t epochs, const std::string& path) {
    in_threads(3, [&](const auto& transport) {
      const SpreadOptions spread{Ranks(transport), Grid{3, 1}};
      int64_t seen = 0;
      RunRequest request{config, path, false, {}};
      // One process alone is told.
      request.hooks.interrupted = [&] { return ++seen == epochs && spread.ranks.rank() == 1; };
      request.spread = &spread;
      EXPECT_TRUE(run_training(request).result.interrupted);
    });
    EXPECT_TRUE(std::filesystem::exists(path + "/resume.safetensors"));
  };
  for (const Grid grid : {Grid{3, 1}, Grid{2, 1}, Grid{1, 4}}) {
    const std::string path = folder.path(std::to_string(grid.rows) + "x" + std::to_string(grid.columns));
    interrupt_after(5, path);
    const Outcome rest = on_grid(config, grid, path, nullptr, /*resume=*/true);
    ASSERT_EQ(rest.epochs.size(), whole.epochs.size() - 5);
    EXPECT_NEAR(rest.epochs.back().train_loss, whole.epochs.back().train_loss, 1e-12);
    EXPECT_NEAR(rest.result.loss.test, whole.result.loss.test, 1e-12);
  }
}

// A store that notes what is asked of it.
class NotedTerms : public TermsStore {
 public:
  explicit NotedTerms(const std::string& folder) : kept_(folder, /*worth=*/0) {}
  std::vector<torch::Tensor> load(const std::string& key) override {
    auto terms = kept_.load(key);
    (terms.empty() ? missed : found).push_back(key);
    return terms;
  }
  void save(const std::string& key, const std::vector<torch::Tensor>& terms, double seconds) override {
    saved.push_back(key);
    kept_.save(key, terms, seconds);
  }
  std::vector<std::string> found, missed, saved;

 private:
  TermsFolder kept_;
};

TEST(SpreadTraining, KeepsItsProductsWithSForTheNextRun) {
  const TemporaryFolder folder;
  const auto train = [&](const Settings& settings, Grid grid, std::vector<NotedTerms>& stores) {
    const TrainConfig config = config_of(settings);
    const auto size = static_cast<size_t>(grid.rows * grid.columns);
    for (size_t k = 0; k < size; ++k) stores.emplace_back(folder.path("run"));
    Outcome out;
    in_threads(static_cast<int>(size), [&](const auto& transport) {
      SpreadOptions spread{Ranks(transport), grid};
      spread.terms =
          std::shared_ptr<TermsStore>(&stores[static_cast<size_t>(transport->rank())], [](auto*) {});
      Outcome here;
      RunRequest request;
      request.config = config;
      request.hooks = noting(here);
      request.spread = &spread;
      here.result = run_training(request).result;
      if (spread.ranks.is_first()) out = here;
    });
    return out;
  };
  for (const Grid grid : {Grid{3, 1}, Grid{2, 2}}) {
    std::vector<NotedTerms> first, second, other;
    const Outcome one = train({}, grid, first), again = train({}, grid, second);
    expect_alike(again, one, 0);
    for (size_t k = 0; k < first.size(); ++k) {
      EXPECT_FALSE(first[k].saved.empty());
      EXPECT_TRUE(first[k].found.empty());
      EXPECT_TRUE(second[k].saved.empty());  // nothing was made again
      EXPECT_TRUE(second[k].missed.empty());
    }
    train({{"self-loops", "off"}}, grid, other);  // another S
    for (const auto& store : other) EXPECT_TRUE(store.found.empty());
    // Without the file of one process all make the products again.
    std::filesystem::remove(folder.path("run/propagated/" + first[1].saved[0] + ".safetensors"));
    std::vector<NotedTerms> third;
    expect_alike(train({}, grid, third), one, 0);
    for (const auto& store : third) EXPECT_FALSE(store.saved.empty());
  }
}

TEST(SpreadTraining, RefusesWhatCannotBeSpread) {
  const auto refusal = [](const Settings& settings, Grid grid = {2, 1}) {
    return message_of<ArgumentError>([&] { on_grid(config_of(settings), grid); });
  };
  EXPECT_CONTAINS(refusal({{"solver", "krylov"}}),
                  "the solver krylov cannot be spread over processes (solver)");
  EXPECT_CONTAINS(refusal({{"layers", "2"}, {"norm", "l2"}}), "a stack of equilibria");
  EXPECT_CONTAINS(refusal({{"source", "neighbours"}}), "the source neighbours");
  EXPECT_CONTAINS(refusal({{"rank", "2"}}), "an F of fewer rows than columns");
  EXPECT_CONTAINS(refusal({{"label-inputs", "on"}}), "labels as inputs");
  EXPECT_CONTAINS(refusal({{"partition", "2"}}), "a graph in parts");
  EXPECT_CONTAINS(refusal({}, {1, 40}), "features to share (grid)");
  EXPECT_CONTAINS(refusal({}, {40, 1}), "40 processes have 34 nodes to share");
}

TEST(SpreadTraining, RefusesProcessesThatReadOtherData) {
  const TrainConfig config = config_of({});
  const Dataset data = prepared(load("karate"), config);
  EXPECT_EQ(message_of<DataError>([&] {
              in_threads(2, [&](const auto& transport) {
                Dataset mine = data;
                if (transport->rank() == 1) mine.features = data.features * 2;
                spread(mine, config, {Ranks(transport), Grid{2, 1}});
              });
            }),
            "the processes have read different data (karate); give all of them the same files");
}

TEST(ChosenGrid, SplitsColumnsFirstAndRowsAsMemoryAsks) {
  SpreadSize size;
  size.nodes = 1e6;
  size.entries = 21e6;
  size.features = 64;
  size.halo = 1e5;
  const auto rows = [&](double bytes) { return chosen_grid(size, 4, bytes).rows; };
  EXPECT_EQ(rows(1e12), 1);
  const double most = bytes_of_process(size, {1, 4}).training(),
               half = bytes_of_process(size, {2, 2}).training();
  EXPECT_LT(half, most);
  EXPECT_EQ(rows(most), 1);
  EXPECT_EQ(rows(most - 1), 2);
  EXPECT_EQ(rows(half - 1), 4);
  EXPECT_EQ(rows(1), 4);
  size.features = 2;
  EXPECT_EQ(rows(1e12), 2);  // no part of the columns without a feature
}

TEST(InspectSpread, CountsTheRowsThatAreFetched) {
  // Chains in order: each part of the rows but the outer ones touches two others.
  TrainConfig config = config_of({{"dataset", "chains"}, {"chain-length", "40"}, {"chains-per-class", "1"}});
  const SpreadInspection found = inspect_spread(config, 4);
  EXPECT_EQ(found.nodes, 80);
  EXPECT_EQ(found.entries, 80 + 2 * 78);
  ASSERT_EQ(found.rows.size(), 3U);  // 1x4, 2x2, 4x1
  EXPECT_EQ(found.rows[0].most_fetched, 0);
  EXPECT_EQ(found.rows[1].most_fetched, 0);  // the border lies between the chains
  EXPECT_EQ(found.rows[2].most_fetched, 1);
  EXPECT_DOUBLE_EQ(found.rows[2].fetched_share, 4.0 / 80);
  EXPECT_LT(found.rows[2].bytes.matrix, found.rows[1].bytes.matrix);
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { inspect_spread(config, 0); }),
                  "0 is no number of processes (ranks)");
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { inspect_spread(config, 81); }),
                  "81 processes have 80 nodes");
}

}  // namespace
}  // namespace eignn
