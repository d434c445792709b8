// Whole runs, small ones.
#include "train/trainer.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/atomic_file.h"
#include "data/safetensors.h"
#include "eignn/error.h"
#include "run/checkpoint.h"
#include "run/recipes.h"
#include "run/train_run.h"
#include "support/temporary_folder.h"
#include "train/assemble.h"

namespace eignn {
namespace {

TrainConfig chains(int64_t length, int64_t epochs) {
  TrainConfig config;
  config.chain_length = length;
  config.chains_per_class = 5;
  config.feature_dim = 12;
  apply_recipe(config, {});
  config.epochs = epochs;
  config.patience = epochs;
  return config;
}

std::string metrics_without_times(const std::string& folder) {
  std::ifstream file(folder + "/metrics.jsonl");
  std::string out;
  for (std::string line; std::getline(file, line);) {
    auto json = nlohmann::json::parse(line);
    json.erase("seconds");
    out += json.dump() + "\n";
  }
  return out;
}

TEST(Training, ReachesTheFarEndOfALongChain) {
  TrainConfig config = chains(200, 400);
  config.chains_per_class = 10;
  for (const char* dtype : {"float32", "float64"}) {
    assign(config, "dtype", dtype);
    const RunResult summary = train(config);
    EXPECT_EQ(summary.solver, "direct");
    EXPECT_EQ(summary.score.test, 1.0) << dtype;
    EXPECT_GT(summary.weight_change, 0.05) << dtype;
    ASSERT_FALSE(summary.by_distance.empty());
    EXPECT_EQ(summary.by_distance.back().to, 199);
  }
}

// Each way of the family has kernels or shortcuts of its own there; dropout draws from the device's own
// stream, and is off.
TEST(Training, OnAGpuHasTheLossesOfTheCpu) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no GPU";
  using Settings = std::map<std::string, std::string>;
  const Settings ways[] = {
      {},
      {{"rank", "8"}, {"intercept", "on"}},
      {{"rank", "8"}, {"source", "both"}, {"head", "l2"}},
      {{"solver", "sparse"}, {"source", "neighbours"}, {"direction", "in,out"}, {"normalise", "out-in"}},
      {{"encoder", "16"},
       {"layers", "3"},
       {"hidden", "16"},
       {"norm", "layer"},
       {"head", "plain"},
       {"skip", "on"},
       {"source", "both"}},
      {{"encoder", "16"},
       {"layers", "2"},
       {"hidden", "24"},
       {"norm", "batch"},
       {"head", "plain"},
       {"jump", "max"},
       {"rank", "4"}},
      {{"encoder", "16"}, {"layers", "2"}, {"hidden", "16"}, {"label-inputs", "on"}},
      {{"solver", "truncated"}, {"eigenpairs", "12"}},
  };
  for (const Settings& way : ways) {
    std::vector<double> losses[2];
    std::string name;
    for (const auto& [field, value] : way) name += field + " " + value + ", ";
    for (const int gpu : {0, 1}) {
      TrainConfig config;
      config.dataset = "karate";
      apply_recipe(config, {});
      for (const auto& [field, value] : way) assign(config, field, value);
      assign(config, "dropout", "0");
      assign(config, "dtype", "float64");
      assign(config, "device", gpu ? "cuda" : "cpu");
      const Dataset data = load_dataset(config);
      Trainer trainer(config, data, 0, nullptr);
      for (int64_t epoch = 0; epoch < 6; ++epoch) losses[gpu].push_back(trainer.step(epoch));
    }
    for (size_t epoch = 0; epoch < 6; ++epoch)
      EXPECT_NEAR(losses[1][epoch], losses[0][epoch], 1e-8 * std::abs(losses[0][epoch])) << name << epoch;
  }
}

TEST(Training, TwiceUnderOneSeedIsIdentical) {
  TemporaryFolder folder;
  for (const char* solver : {"direct", "spectral", "krylov", "sparse"}) {
    TrainConfig config = chains(12, 25);
    config.eignn().solver = solver;
    const std::string a = folder.path(std::string("a-") + solver),
                      b = folder.path(std::string("b-") + solver);
    train(config, a);
    train(config, b);
    EXPECT_EQ(read_whole_file(a + "/model.safetensors"), read_whole_file(b + "/model.safetensors")) << solver;
    EXPECT_EQ(metrics_without_times(a), metrics_without_times(b)) << solver;
    config.seed = 1;
    train(config, b + "-other");
    EXPECT_NE(metrics_without_times(a), metrics_without_times(b + "-other")) << solver;
  }
}

TEST(Training, ResumedIsIdenticalToUninterrupted) {
  TemporaryFolder folder;
  for (const char* solver : {"direct", "krylov", "sparse"}) {
    for (const char* head : {"plain", "l2", "batch-norm"}) {
      TrainConfig config = chains(12, 40);
      config.eignn().solver = solver;
      assign(config, "head", head);
      const std::string whole = folder.path(std::string("whole-") + solver + head),
                        parts = folder.path(std::string("parts-") + solver + head);
      train(config, whole);
      int64_t epochs = 0;
      TrainHooks stop_soon;
      stop_soon.on_epoch = [&](const EpochReport&) { ++epochs; };
      stop_soon.interrupted = [&] { return epochs == 13; };
      EXPECT_TRUE(train(config, parts, false, stop_soon).interrupted);
      EXPECT_FALSE(std::filesystem::exists(parts + "/summary.json"));
      const RunResult resumed = train({}, parts, true);
      EXPECT_EQ(resumed.epochs, 40);
      EXPECT_EQ(read_whole_file(whole + "/model.safetensors"), read_whole_file(parts + "/model.safetensors"));
      EXPECT_EQ(metrics_without_times(whole), metrics_without_times(parts));
      EXPECT_EQ(read_whole_file(whole + "/predictions.csv"), read_whole_file(parts + "/predictions.csv"));
      EXPECT_FALSE(std::filesystem::exists(parts + "/resume.safetensors"));
      EXPECT_THROW(train({}, parts, true), DataError);  // complete
    }
  }
}

TEST(Training, ARunFolderHoldsWhatItPromises) {
  TemporaryFolder folder;
  const std::string run = folder.path("run");
  const RunResult summary = train(chains(10, 15), run);
  for (const char* name :
       {"config.toml", "metrics.jsonl", "summary.json", "model.safetensors", "predictions.csv"})
    EXPECT_TRUE(std::filesystem::exists(run + "/" + name)) << name;
  const auto json = nlohmann::json::parse(read_whole_file(run + "/summary.json"));
  EXPECT_EQ(json["test_accuracy"], summary.score.test);
  for (const char* key : {"dataset",
                          "model",
                          "solver",
                          "solver_requested",
                          "device",
                          "dtype",
                          "threads",
                          "seed",
                          "split",
                          "epochs",
                          "max_epochs",
                          "best_epoch",
                          "train_accuracy",
                          "val_accuracy",
                          "loss",
                          "seconds_total",
                          "seconds_per_epoch",
                          "seconds_per_train_step",
                          "preprocess_seconds",
                          "peak_memory_bytes",
                          "weight_change",
                          "mu_start",
                          "mu_end",
                          "version",
                          "commit"})
    EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_THROW(train(chains(10, 15), run), DataError);  // a second run does not overwrite the first
}

TEST(Training, ACheckpointGivesTheModelBack) {
  TemporaryFolder folder;
  const TrainConfig config = chains(10, 30);
  const RunResult summary = train(config, folder.path("run"));
  const TrainedModel trained = load_model(folder.path("run"));
  const Dataset dataset = load_dataset(trained.config());
  const auto model = restore_model(trained, dataset, trained.config(), nullptr, "run");
  const auto& test = dataset.splits[0].test;
  const torch::NoGradGuard guard;
  const auto right =
      model->scores(test).argmax(1).eq(dataset.labels.index_select(0, test)).sum().item<int64_t>();
  EXPECT_EQ(static_cast<double>(right) / static_cast<double>(test.size(0)), summary.score.test);

  ChainsOptions wider{10, 5, 2, 13};
  EXPECT_THROW(restore_model(trained, chains_dataset(wider, 0), trained.config(), nullptr, "run"), DataError);
}

TEST(Training, ALossThatIsNotFiniteStopsWithAMessage) {
  TrainConfig config = chains(10, 50);
  config.eignn().head = Head::plain;
  config.eignn().dropout = 0;
  config.lr = 1e37;
  config.dtype = Precision::float32;
  EXPECT_THROW(train(config), ConvergenceError);
}

TEST(Training, AFrozenPropagationWeightDoesNotMove) {
  TrainConfig config = chains(10, 10);
  config.eignn().lr_propagation = 0;
  EXPECT_EQ(train(config).weight_change, 0);
}

TEST(Training, FollowsTheSameTrajectoryWithEverySolverOnShortChains) {
  TrainConfig config = chains(8, 20);
  config.dtype = Precision::float64;
  config.eignn().start = Start::xavier;
  for (const char* head : {"plain", "l2"}) {
    assign(config, "head", head);
    std::vector<double> losses;
    for (const char* solver : {"direct", "spectral", "krylov", "deflated", "sparse", "picard", "published"}) {
      config.eignn().solver = solver;
      losses.push_back(train(config).loss.val);
      EXPECT_NEAR(losses.back(), losses.front(), 1e-8) << head << " " << solver;
    }
  }
}

TEST(Training, EveryStepBringsIgnnBackIntoItsBall) {
  TrainConfig config = chains(10, 10);
  IgnnOptions ignn;
  ignn.kappa = 0.6;
  config.model = ignn;
  config.lr = 0.5;
  Trainer trainer(config, load_dataset(config), 0, nullptr);
  const auto W = trainer.model().named_parameters()["W"];
  const auto start = W.detach().clone();
  for (int64_t epoch = 0; epoch < 5; ++epoch) {
    trainer.step(epoch);
    EXPECT_LE(W.abs().sum(1).max().item<double>(), 0.6 * (1 + 1e-5));  // ρ(S) is 1 with self-loops
  }
  EXPECT_FALSE(W.equal(start));
}

TEST(Training, TheCountOfSolvesThatStoppedShortIsPartOfTheSummary) {
  TrainConfig config = chains(10, 6);
  EXPECT_FALSE(nlohmann::json::parse(to_json(train(config))).contains("non_converged_solves"));
  config.model = model_options("ignn");
  EXPECT_EQ(nlohmann::json::parse(to_json(train(config)))["non_converged_solves"], 0);
  IgnnOptions short_of_it;
  short_of_it.max_iterations = 1;
  short_of_it.kappa = 0.99;
  config.model = short_of_it;
  // In each epoch one solve forward, one backward and one of the evaluation; then train, val and test.
  EXPECT_EQ(train(config).non_converged_solves, 6 * 3 + 3);
}

TEST(Training, ClippingBoundsEveryWeightsGradientByItself) {
  TrainConfig config = chains(10, 10);
  config.model = model_options("gcn");
  const auto norms = [&](double clip) {
    config.clip = clip;
    Trainer trainer(config, load_dataset(config), 0, nullptr);
    trainer.step(0);
    std::vector<double> out;
    for (const auto& parameter : trainer.model().parameters())
      out.push_back(parameter.grad().norm().item<double>());
    return out;
  };
  const auto free = norms(0);
  const double bound =
      (*std::min_element(free.begin(), free.end()) + *std::max_element(free.begin(), free.end())) / 2;
  const auto clipped = norms(bound);
  for (size_t k = 0; k < free.size(); ++k)
    EXPECT_NEAR(clipped[k], std::min(free[k], bound), 1e-5 * bound) << k;
}

}  // namespace
}  // namespace eignn
