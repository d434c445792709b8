// A batch of runs is the runs one by one.
#include "train/run_batch.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <filesystem>

#include "eignn/error.h"
#include "run/batched_training.h"
#include "run/train_run.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"
#include "train/assemble.h"
#include "train/trainer.h"

namespace eignn {
namespace {

// A graph of several components, words as features, four splits of different sizes, a node without a label.
Dataset words() {
  const int64_t n = 40, m = 17, classes = 3;
  const auto generator = at::detail::createCPUGenerator(5);
  Dataset set;
  set.name = "words";
  std::vector<int64_t> source, target;
  const auto ends = torch::randint(n, {2, 50}, generator, torch::kInt64);
  for (int64_t a = 0; a < 50; ++a) {
    source.push_back(ends[0][a].item<int64_t>());
    target.push_back(ends[1][a].item<int64_t>());
  }
  set.graph = Graph::from_arcs(n, source, target);
  set.features = torch::rand({n, m}, generator, torch::kFloat64);
  set.labels = torch::randint(classes, {n}, generator, torch::kInt64);
  set.labels[0] = -1;
  set.known = set.labels.ge(0);
  set.classes = classes;
  for (int64_t k = 0; k < 4; ++k) {
    const auto order = 1 + torch::randperm(n - 1, generator, torch::kInt64);
    set.splits.push_back(
        {order.narrow(0, 0, 12 + k), order.narrow(0, 12 + k, 9), order.narrow(0, 21 + k, n - 22 - k)});
  }
  return set;
}

TrainConfig plain(int64_t epochs) {
  TrainConfig config;
  config.eignn().solver = "spectral";
  config.dtype = Precision::float64;
  config.lr = 0.1;
  config.weight_decay = 1e-3;
  config.epochs = epochs;
  config.patience = epochs;
  return config;
}

void expect_equal_trajectories(const std::vector<TrainConfig>& configs, const Dataset& dataset,
                               int64_t epochs) {
  RunBatch batch(configs, dataset, nullptr);
  std::vector<std::unique_ptr<Trainer>> alone;
  for (const TrainConfig& config : configs)
    alone.push_back(std::make_unique<Trainer>(config, dataset, split_number(config, dataset), nullptr));
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    const auto reports = batch.epoch();
    ASSERT_EQ(reports.size(), configs.size());
    for (size_t k = 0; k < configs.size(); ++k) {
      EXPECT_NEAR(reports[k].train_loss, alone[k]->step(epoch), 1e-9) << "run " << k << " epoch " << epoch;
      const auto evaluation = alone[k]->evaluate(alone[k]->split().val);
      EXPECT_NEAR(reports[k].val_loss, evaluation.loss, 1e-9) << "run " << k << " epoch " << epoch;
      EXPECT_EQ(reports[k].val_score, evaluation.score) << "run " << k << " epoch " << epoch;
    }
  }
  for (size_t k = 0; k < configs.size(); ++k)
    for (const auto& [name, value] : batch.state(static_cast<int64_t>(k)))
      EXPECT_LE((value - alone[k]->model().named_parameters()[name]).abs().max().item<double>(), 1e-8)
          << name;
}

TEST(RunBatch, FollowsEachRunWithThePlainHead) {
  std::vector<TrainConfig> configs(4, plain(8));
  for (int64_t k = 0; k < 4; ++k) configs[k].split = std::to_string(k);
  configs[1].seed = 3;
  configs[2].lr = 0.02;
  configs[2].eignn().lr_propagation = 0.3;
  configs[3].weight_decay = 0.1;
  configs[3].eignn().weight_decay_propagation = 0;
  expect_equal_trajectories(configs, words(), 8);
}

TEST(RunBatch, FollowsRunsWithAThinF) {
  for (const Head head : {Head::plain, Head::l2}) {
    std::vector<TrainConfig> configs(3, plain(6));
    for (int64_t k = 0; k < 3; ++k) {
      configs[k].split = std::to_string(k);
      configs[k].eignn().head = head;
      configs[k].eignn().rank = 4;
    }
    configs[2].seed = 7;
    expect_equal_trajectories(configs, words(), 6);
  }
}

TEST(RunBatch, FollowsOnAGraphWhoseSIsSingular) {
  TrainConfig config = plain(5);
  config.propagation.self_loops = false;  // isolated nodes, and twins: S has a kernel
  config.schedule = Schedule::cosine;
  expect_equal_trajectories({config}, words(), 5);
}

TEST(RunBatch, FollowsEachRunWithTheNormalisedHead) {
  TrainConfig config;
  config.chain_length = 8;
  config.chains_per_class = 3;
  config.num_classes = 3;
  config.feature_dim = 11;
  config.eignn().head = Head::l2;
  config.dtype = Precision::float64;
  config.eignn().solver = "spectral";
  TrainConfig other = config;
  other.lr = 0.1;
  expect_equal_trajectories({config, other}, load_dataset(config), 6);
}

// The words on a graph whose arcs go both ways, so that every direction has the same symmetric S.
Dataset both_ways() {
  Dataset set = words();
  std::vector<int64_t> source, target;
  for (int64_t v = 0; v < set.nodes(); ++v)
    for (int64_t a = set.graph.row_begin[v]; a < set.graph.row_begin[v + 1]; ++a)
      for (const auto& [from, to] :
           {std::pair<int64_t, int64_t>{v, set.graph.target[a]}, {set.graph.target[a], v}}) {
        source.push_back(from);
        target.push_back(to);
      }
  set.graph = Graph::from_arcs(set.nodes(), source, target);
  return set;
}

TEST(RunBatch, FollowsEachRunWithSeveralSourcesDirectionsAndRepetitions) {
  const Dataset dataset = both_ways();
  for (const char* source : {"neighbours", "both"})
    for (const char* equilibria : {"1", "3"})
      for (const char* direction : {"undirected", "undirected,out"})
        for (const char* norm : {"none", "l2"}) {
          TrainConfig config = plain(4);
          assign(config, {{"source", source},
                          {"equilibria", equilibria},
                          {"direction", direction},
                          {"norm", norm},
                          {"optimiser", "adamw"},
                          {"self-loops", "off"}});
          TrainConfig other = config;
          other.split = "2";
          other.seed = 4;
          expect_equal_trajectories({config, other}, dataset, 4);
        }
}

TEST(RunBatch, KeepsTheFilesOfRunsWithSeveralEquilibria) {
  TrainConfig config = plain(6);
  assign(config, {{"source", "both"}, {"equilibria", "2"}});
  const TemporaryFolder folder;
  const Dataset dataset = words();
  const auto together = train_batch({config}, {folder.path("run")}, dataset);
  const RunResult alone = train(config, {}, false, {}, &dataset);
  EXPECT_NEAR(together[0].summary.loss.test, alone.loss.test, 1e-8);
  EXPECT_NEAR(together[0].summary.weight_change, alone.weight_change, 1e-8) << "of all F";
  EXPECT_TRUE(std::filesystem::exists(folder.path("run/model.safetensors")));
}

TEST(RunBatch, DropoutTrainsAndASeedFixesIt) {
  TrainConfig config;
  config.chain_length = 8;
  config.feature_dim = 11;
  config.eignn().head = Head::l2;
  config.eignn().dropout = 0.5;
  config.epochs = 60;
  const Dataset dataset = load_dataset(config);
  const auto losses = [&](uint64_t seed) {
    TrainConfig seeded = config;
    seeded.seed = seed;
    RunBatch batch({seeded}, dataset, nullptr);
    std::vector<double> out;
    for (int k = 0; k < 60; ++k) out.push_back(batch.epoch()[0].val_loss);
    return out;
  };
  const auto first = losses(1);
  EXPECT_EQ(first, losses(1));
  EXPECT_NE(first, losses(2));
  EXPECT_LT(first.back(), 0.8 * first.front());
}

// On a GPU too, where masks are drawn.
TEST(RunBatch, LeavesTheCallersRandomGeneratorsAlone) {
  TrainConfig config;
  config.chain_length = 8;
  config.feature_dim = 11;
  config.eignn().head = Head::l2;
  config.eignn().dropout = 0.5;
  const auto device = torch::Device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  config.device = device.is_cuda() ? DeviceKind::cuda : DeviceKind::cpu;
  const auto next = [](torch::Device where) {
    auto generator = at::globalContext().defaultGenerator(where).clone();
    return torch::rand({3}, generator, torch::dtype(torch::kFloat64).device(where));
  };
  const auto here = next(torch::kCPU), there = next(device);
  RunBatch batch({config}, load_dataset(config), nullptr);
  double first = 0, last = 0;
  for (int k = 0; k < 30; ++k) (k == 0 ? first : last) = batch.epoch()[0].train_loss;
  EXPECT_LT(last, first);
  EXPECT_TRUE(next(torch::kCPU).equal(here));
  EXPECT_TRUE(next(device).equal(there));
}

TEST(RunBatch, AGpuFollowsTheCpu) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no GPU";
  std::vector<TrainConfig> here(3, plain(8));
  for (int64_t k = 0; k < 3; ++k) here[k].split = std::to_string(k);
  here[1].lr = 0.03;
  here[0].schedule = here[1].schedule = here[2].schedule = Schedule::cosine;
  auto there = here;
  for (TrainConfig& config : there) config.device = DeviceKind::cuda;
  const Dataset dataset = words();
  RunBatch one(here, dataset, nullptr), other(there, dataset, nullptr);
  for (int epoch = 0; epoch < 8; ++epoch) {  // captured from the second on
    if (epoch == 5) {
      one.keep({0, 2});
      other.keep({0, 2});
    }
    const auto a = one.epoch(), b = other.epoch();
    for (size_t k = 0; k < a.size(); ++k) {
      EXPECT_NEAR(a[k].train_loss, b[k].train_loss, 1e-10) << "run " << k << " epoch " << epoch;
      EXPECT_NEAR(a[k].val_loss, b[k].val_loss, 1e-10) << "run " << k << " epoch " << epoch;
    }
  }
}

TEST(RunBatch, RunsLeaveWhenTheirPatienceEnds) {
  const Dataset dataset = words();
  std::vector<TrainConfig> configs(4, plain(200));
  for (int64_t k = 0; k < 4; ++k) {
    configs[k].split = std::to_string(k);
    configs[k].patience = 5;
    configs[k].stopping = Stopping::either;
  }
  TemporaryFolder folder;
  std::vector<std::string> folders;
  for (int k = 0; k < 4; ++k) folders.push_back(folder.path("split-" + std::to_string(k)));
  size_t most = 0, fewest = 4;
  const auto together = train_batch(configs, folders, dataset, [&](const auto& reports) {
    most = std::max(most, reports.size());
    fewest = std::min(fewest, reports.size());
  });
  EXPECT_EQ(most, 4u);
  EXPECT_LT(fewest, 4u);
  for (int k = 0; k < 4; ++k) {
    const RunResult alone = train(configs[k], {}, false, {}, &dataset);
    EXPECT_EQ(together[k].summary.epochs, alone.epochs) << k;
    EXPECT_EQ(together[k].summary.best_epoch, alone.best_epoch) << k;
    EXPECT_EQ(together[k].summary.score.test, alone.score.test) << k;
    EXPECT_NEAR(together[k].summary.loss.test, alone.loss.test, 1e-8) << k;
    EXPECT_NEAR(together[k].summary.weight_change, alone.weight_change, 1e-8) << k;
    EXPECT_EQ(together[k].summary.solver, "krylov");
    for (const char* file :
         {"config.toml", "metrics.jsonl", "summary.json", "model.safetensors", "predictions.csv"})
      EXPECT_TRUE(std::filesystem::exists(folders[k] + "/" + file)) << file;
  }
}

TEST(RunBatch, KeepsTheOthersWhenOneFails) {
  std::vector<TrainConfig> configs(2, plain(6));
  configs[1].split = "1";
  configs[1].lr = 1e200;  // F overflows at once
  configs[1].eignn().lr_propagation = 1e200;
  TemporaryFolder folder;
  const std::vector<std::string> folders = {folder.path("good"), folder.path("bad")};
  const auto runs = train_batch(configs, folders, words());
  EXPECT_FALSE(runs[0].failure);
  EXPECT_CONTAINS(message_of<ConvergenceError>([&] { std::rethrow_exception(runs[1].failure); }), "split 1");
  EXPECT_TRUE(std::filesystem::exists(folders[0] + "/summary.json"));
  EXPECT_FALSE(std::filesystem::exists(folders[1] + "/summary.json"));
}

TEST(RunBatch, AnyOtherErrorEndsTheBatchBeforeItTrains) {
  std::vector<TrainConfig> configs(2, plain(6));
  configs[1].split = "1";
  TemporaryFolder folder;
  train_batch({configs[0]}, {folder.path("taken")}, words());
  int epochs = 0;
  const auto again = [&] {
    train_batch(configs, {folder.path("new"), folder.path("taken")}, words(), [&](const auto&) { ++epochs; });
  };
  EXPECT_CONTAINS(message_of<DataError>(again), "holds a run already");
  EXPECT_EQ(epochs, 0);
  // Nor is a disk that fails the fault of one run: a folder takes the place of its summary.
  const auto full = [&](const auto& reports) {
    if (reports[0].epoch == 2) std::filesystem::create_directory(folder.path("b/summary.json"));
  };
  EXPECT_THROW(train_batch(configs, {folder.path("a"), folder.path("b")}, words(), full), ResourceError);
}

TEST(RunBatch, LeavesLongPathsToDirect) {
  TrainConfig config;
  config.chain_length = 100;
  config.eignn().head = Head::l2;
  const Dataset dataset = load_dataset(config);
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { train_batch({config}, {}, dataset); }), "direct");
}

TEST(RunBatch, SaysWhenItWasInterrupted) {
  std::vector<TrainConfig> configs(2, plain(50));
  configs[1].split = "1";
  int epochs = 0;
  const auto runs = train_batch(
      configs, {}, words(), [&](const auto&) { ++epochs; }, [&] { return epochs == 3; });
  for (const BatchedRun& run : runs) {
    EXPECT_TRUE(run.summary.interrupted);
    EXPECT_FALSE(run.failure);
  }
  EXPECT_EQ(epochs, 3);
}

TEST(RunBatch, RefusesWhatItCannotDo) {
  const Dataset dataset = words();
  const auto refusal = [&](auto change) {
    TrainConfig config = plain(5);
    change(config);
    return message_of<ArgumentError>([&] { RunBatch({config}, dataset, nullptr); });
  };
  EXPECT_NE(refusal([](TrainConfig& c) { c.eignn().head = Head::batch_norm; }).find("batch-norm"),
            std::string::npos);
  EXPECT_NE(refusal([](TrainConfig& c) { c.eignn().gamma = 1; }).find("gamma 1"), std::string::npos);
  EXPECT_NE(refusal([](TrainConfig& c) { c.propagation.direction = Direction::in; }).find("symmetric"),
            std::string::npos);
  EXPECT_CONTAINS(refusal([](TrainConfig& c) { c.eignn().solver = "direct"; }), "solver direct");
  EXPECT_CONTAINS(refusal([](TrainConfig& c) { c.tf32 = true; }), "TF32");
  EXPECT_CONTAINS(refusal([](TrainConfig& c) { c.eignn().layers = 2; }), "one layer of equilibria");
  EXPECT_CONTAINS(refusal([](TrainConfig& c) { c.eignn().equilibria = 0; }), "one layer of equilibria");
  EXPECT_CONTAINS(refusal([](TrainConfig& c) { c.eignn().encoder = 8; }), "no encoder");
  EXPECT_CONTAINS(refusal([](TrainConfig& c) { c.eignn().norm = Norm::layer; }), "not layer");
  EXPECT_CONTAINS(refusal([](TrainConfig& c) { assign(c, "direction", "undirected,in"); }), "direction in");
  EXPECT_NE(refusal([](TrainConfig& c) { c.model = model_options("gcn"); }).find("gcn"), std::string::npos);
  EXPECT_NE(refusal([](TrainConfig& c) { c.clip = 0.5; }).find("clip"), std::string::npos);
  std::vector<TrainConfig> unlike(2, plain(5));
  unlike[1].eignn().gamma = 0.5;
  EXPECT_NE(message_of<ArgumentError>([&] { RunBatch(unlike, dataset, nullptr); }).find("gamma"),
            std::string::npos);
}

}  // namespace
}  // namespace eignn
