// What holds for every model in the registry.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "eignn/error.h"
#include "run/checkpoint.h"
#include "run/recipes.h"
#include "support/baselines.h"
#include "support/message_of.h"
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

TEST_P(EveryModel, AnEmptyIndexHasNoScores) {
  const auto nobody = torch::empty({0}, torch::kInt64);
  for (const bool alike : {false, true}) {
    if (alike && GetParam() == "eignn") continue;
    const TrainConfig config = karate();
    const auto model =
        alike ? AlikeChains().model(GetParam()) : make_model(load_dataset(config), config, nullptr);
    for (const bool training : {false, true}) {
      model->train(training);
      EXPECT_EQ(model->scores(nobody).sizes(), (at::IntArrayRef{0, model->classes()}));
    }
  }
}

TEST_P(EveryModel, RefusesAnIndexThatIsNone) {
  const TrainConfig config = karate();
  const auto model = make_model(load_dataset(config), config, nullptr);
  const auto refusal = [&](const torch::Tensor& index) {
    return message_of<ArgumentError>([&] { model->scores(index); });
  };
  const auto before = scores_of(*model, torch::arange(34));
  for (const bool training : {false, true}) {
    model->train(training);
    EXPECT_CONTAINS(refusal({}), "undefined");
    EXPECT_CONTAINS(refusal(torch::tensor({34}, torch::kInt64)), "no node 34");
    EXPECT_CONTAINS(refusal(torch::tensor({3, -1}, torch::kInt64)), "no node -1");
    EXPECT_CONTAINS(refusal(torch::tensor({int64_t{1} << 62}, torch::kInt64)), "no node");
    EXPECT_CONTAINS(refusal(torch::tensor({1}, torch::kInt32)), "int64");
    EXPECT_CONTAINS(refusal(torch::tensor({1.0}, torch::kFloat64)), "int64");
    EXPECT_CONTAINS(refusal(torch::ones({34}, torch::kBool)), "int64");
    EXPECT_CONTAINS(refusal(torch::zeros({2, 2}, torch::kInt64)), "2 dimensions");
    EXPECT_CONTAINS(refusal(torch::tensor(1, torch::kInt64)), "0 dimensions");
  }
  auto index = torch::arange(34);
  EXPECT_TRUE(scores_of(*model, index).equal(before));  // as if nothing had happened
  index[3] = 99;                                        // known to be in range before, and not any more
  EXPECT_CONTAINS(refusal(index), "no node 99");
  // Views are as good as what they show.
  const auto every_other = torch::arange(34).slice(0, 0, 34, 2);
  EXPECT_LE(test::relative_error(scores_of(*model, every_other), before.slice(0, 0, 34, 2)), 1e-12);
}

TEST_P(EveryModel, RefusesFeaturesThatDoNotFit) {
  const TrainConfig config = karate();
  const auto model = make_model(load_dataset(config), config, nullptr);
  const auto before = scores_of(*model, torch::arange(34));
  const auto X = test::random_matrix(34, 34, 3);
  const auto with = [&](double value) {
    auto changed = X.clone();
    changed[5][6] = value;
    return changed;
  };
  const auto refusal = [&](const torch::Tensor& features) {
    return message_of<ArgumentError>([&] { model->use_features(features); });
  };
  EXPECT_CONTAINS(refusal({}), "undefined");
  EXPECT_CONTAINS(refusal(X.narrow(0, 0, 33)), "33 by 34");
  EXPECT_CONTAINS(refusal(torch::cat({X, X})), "68 by 34");
  EXPECT_CONTAINS(refusal(X.narrow(1, 0, 33)), "34 by 33");
  EXPECT_CONTAINS(refusal(X.narrow(1, 0, 0)), "no features");
  EXPECT_CONTAINS(refusal(X.narrow(0, 0, 0)), "no node");
  EXPECT_CONTAINS(refusal(X.flatten()), "1 dimension");
  EXPECT_CONTAINS(refusal(X.unsqueeze(0)), "3 dimensions");
  EXPECT_CONTAINS(refusal(with(std::nan(""))), "not finite");
  EXPECT_CONTAINS(refusal(with(-INFINITY)), "not finite");
  EXPECT_CONTAINS(refusal(X.to(torch::kComplexDouble)), "real");
  if (GetParam() == "eignn") {  // reads sparse features too
    EXPECT_CONTAINS(refusal(with(std::nan("")).to_sparse()), "not finite");
    EXPECT_CONTAINS(refusal(X.narrow(0, 0, 33).to_sparse()), "33 by 34");
  } else {
    EXPECT_CONTAINS(refusal(X.to_sparse()), "dense");
  }
  EXPECT_TRUE(scores_of(*model, torch::arange(34)).equal(before));
  // Large numbers whose sum overflows are numbers; integers and transposed views are features.
  const auto pattern = X.gt(0);
  model->use_features(pattern);
  const auto of_bits = scores_of(*model, torch::arange(34));
  model->use_features(pattern.to(torch::kFloat64).t().contiguous().t());
  EXPECT_LE(test::relative_error(scores_of(*model, torch::arange(34)), of_bits), 1e-12);
  model->use_features(torch::full({34, 34}, 1e307, torch::kFloat64));
}

TEST_P(EveryModel, LeavesTheCallersRandomGeneratorsAlone) {
  const TrainConfig config = karate();
  const auto device = torch::Device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  TrainConfig on_device = config;
  on_device.device = device.is_cuda() ? DeviceKind::cuda : DeviceKind::cpu;
  if (to_strings(on_device).count("dropout") > 0) assign(on_device, "dropout", "0.5");
  const Dataset dataset = load_dataset(config);
  const auto next = [](torch::Device where) {
    auto generator = at::globalContext().defaultGenerator(where).clone();
    return torch::rand({3}, generator, torch::dtype(torch::kFloat64).device(where));
  };
  const auto here = next(torch::kCPU), there = next(device);
  Trainer trainer(on_device, dataset, 0, nullptr);
  for (int64_t epoch = 0; epoch < 3; ++epoch) trainer.step(epoch);
  EXPECT_TRUE(next(torch::kCPU).equal(here));
  EXPECT_TRUE(next(device).equal(there));
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
  } catch (const ArgumentError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean gcn"), std::string::npos) << error.what();
  }
}

TEST(Registry, RefusesGraphsThatDoNotFitTheFeatures) {
  const auto S = std::make_shared<Propagation>(make_propagation(chain_graph(1, 5)));
  const auto X = test::random_matrix(5, 3, 1);
  for (const std::string& name : model_names()) {
    SCOPED_TRACE(name);
    const auto refusal = [&](const std::vector<GraphMatrix>& graphs, const torch::Tensor& features,
                             int64_t classes) {
      return message_of<ArgumentError>([&] {
        if (name != "eignn") {
          make_baseline(model_options(name), graphs, features, classes, torch::kFloat64, 0);
          return;
        }
        std::vector<GraphPart> parts;
        for (const GraphMatrix& graph : graphs)
          parts.push_back({graph.nodes, graph.S ? make_solver("direct", graph.S, {}, 3) : nullptr});
        make_eignn(std::move(parts), features, classes, {}, 0);
      });
    };
    EXPECT_CONTAINS(refusal({}, X, 2), "no graph");
    EXPECT_CONTAINS(refusal({{{}, nullptr}}, X, 2), "a graph has no");
    EXPECT_CONTAINS(refusal({{{}, S}}, X.narrow(0, 0, 4), 2), "graph of 5 nodes is given 4 rows");
    EXPECT_CONTAINS(refusal({{{0, 1}, S}}, X, 2), "graph of 5 nodes is given 2 rows");
    EXPECT_CONTAINS(refusal({{{0, 1, 2, 3, 7}, S}}, X, 2), "node 7");
    EXPECT_CONTAINS(refusal({{{}, S}}, X, 0), "classes");
    EXPECT_CONTAINS(refusal({{{}, S}}, torch::Tensor(), 2), "undefined");
    EXPECT_CONTAINS(refusal({{{}, S}}, X.log(), 2), "not finite");
  }
}

}  // namespace
}  // namespace eignn
