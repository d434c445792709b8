// What holds for every model in the registry.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>

#include "eignn/error.h"
#include "run/checkpoint.h"
#include "run/recipes.h"
#include "support/baselines.h"
#include "support/temporary_folder.h"
#include "train/assemble.h"
#include "train/trainer.h"

namespace eignn {
namespace {

class EveryModel : public ::testing::TestWithParam<std::string> {
 protected:
  static TrainConfig karate() {
    TrainConfig config;
    config.dataset = "karate";
    config.model = model_options(GetParam());
    apply_recipe(config, {});
    config.dtype = Precision::float64;
    if (auto* ignn = std::get_if<IgnnOptions>(&config.model)) {
      ignn->tolerance = 1e-13;
      ignn->max_iterations = 5000;
    }
    return config;
  }
};

std::map<std::string, torch::Tensor> trained(const TrainConfig& config, int64_t epochs) {
  Trainer trainer(config, load_dataset(config), 0, nullptr);
  for (int64_t epoch = 0; epoch < epochs; ++epoch) trainer.step(epoch);
  return state_of(trainer.model());
}

bool same(const std::map<std::string, torch::Tensor>& a, const std::map<std::string, torch::Tensor>& b) {
  return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&](const auto& item) {
           return b.count(item.first) && item.second.equal(b.at(item.first));
         });
}

TEST_P(EveryModel, LearnsTheKarateClub) {
  const TrainConfig config = karate();
  Trainer trainer(config, load_dataset(config), 0, nullptr);
  const double before = trainer.evaluate(trainer.split().train).loss;
  for (int64_t epoch = 0; epoch < 200; ++epoch) trainer.step(epoch);
  const auto after = trainer.evaluate(trainer.split().train);
  EXPECT_EQ(after.score, 1.0);
  EXPECT_LT(after.loss, 0.7 * before);
  if (GetParam() != "mlp") {  // one-hot features tell of no other node
    EXPECT_GE(trainer.evaluate(trainer.split().test).score, 0.8);
  }
}

TEST_P(EveryModel, ASeedFixesTheRunBitForBit) {
  TrainConfig config = karate();
  config.dtype = Precision::float32;
  if (auto* ignn = std::get_if<IgnnOptions>(&config.model)) ignn->tolerance = 3e-6;
  const auto first = trained(config, 12);
  EXPECT_TRUE(same(first, trained(config, 12)));
  config.seed = 1;
  EXPECT_FALSE(same(first, trained(config, 12)));
}

TEST_P(EveryModel, ACheckpointGivesTheSameScores) {
  const TemporaryFolder folder;
  const TrainConfig config = karate();
  const Dataset dataset = load_dataset(config);
  Trainer trainer(config, dataset, 0, nullptr);
  for (int64_t epoch = 0; epoch < 5; ++epoch) trainer.step(epoch);
  const std::string path = folder.path("model.safetensors");
  TrainedModel(config, dataset.feature_count(), dataset.classes, false, state_of(trainer.model())).save(path);
  const TrainedModel trained = load_model(path);
  EXPECT_EQ(name(trained.config().model), GetParam());
  EXPECT_EQ(to_strings(trained.config()), to_strings(config));
  const auto restored = restore_model(trained, dataset, trained.config(), nullptr, path);
  const auto all = torch::arange(34);
  EXPECT_TRUE(scores_of(*restored, all).equal(scores_of(trainer.model(), all)));
}

TEST_P(EveryModel, ScoresFollowTheFeaturesTheyAreGiven) {
  const TrainConfig config = karate();
  Dataset dataset = load_dataset(config);
  const auto model = make_model(dataset, config, nullptr);
  const auto all = torch::arange(34);
  const auto before = scores_of(*model, all);
  dataset.features = test::random_matrix(34, 34, 3);
  model->use_features(dataset.features);
  const auto after = scores_of(*model, all);
  EXPECT_GT(test::relative_error(after, before), 1e-2);
  EXPECT_LE(test::relative_error(after, scores_of(*make_model(dataset, config, nullptr), all)), 1e-13);
}

TEST_P(EveryModel, TheGradientInTheFeaturesMatchesCentralDifferences) {
  const TrainConfig config = karate();
  Dataset dataset = load_dataset(config);
  dataset.features = test::random_matrix(34, 34, 3);
  const auto model = make_model(dataset, config, nullptr);
  model->eval();
  scores_of(*model, torch::arange(34));  // what is kept of these features must not serve others
  const auto X = dataset.features.clone().requires_grad_();
  const auto index = torch::tensor({3, 30, 11}, torch::kInt64);
  const auto G = test::random_matrix(3, 2, 5);
  const auto value = [&] {
    model->use_features(X);
    return (model->scores(index) * G).sum();
  };
  value().backward();
  ASSERT_TRUE(X.grad().defined());
  const double scale = std::max(1.0, X.grad().abs().max().item<double>());
  // Entries of a scored node, of its neighbours and of nodes far away.
  for (const int64_t k : {3 * 34 + 4, 30 * 34 + 17, 0 * 34 + 2, 33 * 34 + 33, 11 * 34 + 11, 16 * 34 + 5})
    EXPECT_NEAR(X.grad().view({-1})[k].item<double>(),
                test::central_difference(X, k, 1e-6, [&] { return value().item<double>(); }), 2e-7 * scale)
        << k;
}

TEST_P(EveryModel, SeveralGraphsScoreAsEachByItself) {
  if (GetParam() == "eignn") return;  // multi_graph_test.cpp
  const auto path = [](int64_t nodes) {
    return std::make_shared<Propagation>(make_propagation(chain_graph(1, nodes)));
  };
  // Two paths whose nodes alternate.
  const std::vector<int64_t> even = {0, 2, 4, 6, 8, 10, 12}, odd = {1, 3, 5, 7, 9, 11};
  const auto X = test::random_matrix(13, 5, 5);
  test::AnyOptions options;
  options.hidden = 4;
  const auto make = [&](const std::vector<GraphMatrix>& graphs, const torch::Tensor& features) {
    auto model =
        make_baseline(test::options_for(GetParam(), options), graphs, features, 3, torch::kFloat64, 2);
    model->eval();
    return model;
  };
  const auto rows = [&](const std::vector<int64_t>& nodes) {
    return X.index_select(0, torch::tensor(nodes, torch::kInt64));
  };
  const torch::NoGradGuard guard;
  const auto together = make({{even, path(7)}, {odd, path(6)}}, X);
  const auto a = make({{{}, path(7)}}, rows(even))->scores(torch::tensor({2, 0}, torch::kInt64)),
             b = make({{{}, path(6)}}, rows(odd))->scores(torch::tensor({4, 5}, torch::kInt64));
  EXPECT_LE(test::relative_error(together->scores(torch::tensor({9, 4, 0, 11}, torch::kInt64)),
                                 torch::stack({b[0], a[0], a[1], b[1]})),
            1e-5);  // ignn's tolerance
  EXPECT_LE(test::relative_error(together->scores(torch::tensor({4, 0}, torch::kInt64)), a), 1e-5);
  together->use_features(X + 1);
  EXPECT_GT(test::relative_error(together->scores(torch::tensor({4, 0}, torch::kInt64)), a), 1e-3);
}

// Six chains of two kinds: alike are nodes that are ten apart.
struct AlikeChains {
  AlikeChains() {
    for (int64_t chain = 0; chain < 6; ++chain) X[5 * chain][chain % 2] = 1;
    options.hidden = 4;
    options.layers = 3;
  }
  std::shared_ptr<Model> model(const std::string& name) const {
    return make_baseline(test::options_for(name, options), {{{}, S}}, X, 3, torch::kFloat64, 2);
  }
  std::shared_ptr<Propagation> S = std::make_shared<Propagation>(make_propagation(chain_graph(6, 5)));
  torch::Tensor X = torch::zeros({30, 4}, torch::kFloat64);
  test::AnyOptions options;
};

bool among(const std::string& name, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// What a model says of a node must not depend on whether alike nodes shared their work.
TEST_P(EveryModel, AlikeNodesScoreAsIfTheyWereNot) {
  if (GetParam() == "eignn") return;  // its solvers' tests
  AlikeChains problem;
  const auto index = torch::tensor({29, 0, 7, 10, 20, 20}, torch::kInt64);
  const auto G = test::random_matrix(6, 3, 5);
  for (const bool training : {false, true}) {
    if (training && among(GetParam(), {"sse", "graphsage"})) continue;  // they draw nodes
    // Drawn for each row at the end, dropout is the same either way.
    problem.options.dropout = training && among(GetParam(), {"h2gcn", "ignn", "ignn-finite"}) ? 0.5 : 0;
    const auto model = problem.model(GetParam());
    model->train(training);
    const auto outcome = [&] {
      model->zero_grad();
      model->seed_dropout(3);
      const auto scores = model->scores(index);
      (scores * G).sum().backward();
      std::vector<torch::Tensor> out = {scores.detach()};
      for (const auto& parameter : model->parameters()) out.push_back(parameter.grad().clone());
      return out;
    };
    const auto together = outcome();
    model->use_features(problem.X);  // for all it knows, other ones
    const auto apart = outcome();
    for (size_t k = 0; k < apart.size(); ++k)
      EXPECT_LE((together[k] - apart[k]).abs().max().item<double>(), 1e-4) << k;  // ignn's tolerance
  }
}

TEST_P(EveryModel, WhatIsDrawnInTrainingTellsAlikeNodesApart) {
  if (among(GetParam(), {"eignn", "sgc"})) return;  // sgc draws nothing
  AlikeChains problem;
  problem.options.dropout = among(GetParam(), {"sse", "graphsage"}) ? 0 : 0.5;
  problem.options.samples = problem.options.samples_second = 1;
  const auto model = problem.model(GetParam());
  model->train();
  double apart = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    model->seed_dropout(seed);
    const auto scores = model->scores(torch::tensor({0, 1, 10, 11}, torch::kInt64)).detach();
    apart = std::max(apart, (scores.narrow(0, 0, 2) - scores.narrow(0, 2, 2)).abs().max().item<double>());
  }
  EXPECT_GT(apart, 1e-3);
}

TEST_P(EveryModel, NobodyAskedForHasNoScores) {
  if (GetParam() == "eignn") return;
  const auto model = AlikeChains().model(GetParam());
  const auto nobody = torch::empty({0}, torch::kInt64);
  for (const bool training : {false, true}) {
    model->train(training);
    EXPECT_EQ(model->scores(nobody).sizes(), (at::IntArrayRef{0, 3}));
  }
}

std::string described(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
  return name;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryModel, ::testing::ValuesIn(model_names()), described);

TEST(Registry, AnUnknownNameIsAnsweredWithTheNearest) {
  const test::SmallProblem problem;
  try {
    problem.model("gcn2");
    FAIL() << "no error";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean gcn"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace eignn
