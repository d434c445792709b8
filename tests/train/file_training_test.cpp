// From files on disk to a trained model: gaps, sets of labels, sets of graphs, drawn splits.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "data/atomic_file.h"
#include "data/compact.h"
#include "eignn/checkpoint.h"
#include "eignn/error.h"
#include "eignn/train.h"
#include "eignn/warning.h"
#include "run/checkpoint.h"
#include "run/predictions_csv.h"
#include "run/train_run.h"
#include "support/message_of.h"
#include "support/real_data.h"
#include "support/temporary_folder.h"
#include "support/weights_of.h"
#include "train/assemble.h"
#include "train/plan_request.h"

namespace eignn {
namespace {

// Rings of ten nodes, `graphs` of them; a node's features are noise around its ring's parity.
RawDataset rings(int64_t graphs, bool sets_of_labels) {
  RawDataset set;
  set.name = "rings";
  const int64_t n = 10 * graphs;
  set.arcs.nodes = n;
  std::vector<double> X;
  for (int64_t v = 0; v < n; ++v) {
    const int64_t ring = v / 10;
    set.arcs.source.push_back(v);
    set.arcs.target.push_back(ring * 10 + (v + 1) % 10);
    for (int64_t k = 0; k < 4; ++k)
      X.push_back((ring % 2 == k % 2 ? 1.0 : 0.2) + 0.01 * static_cast<double>((v * 7 + k) % 11));
    if (sets_of_labels) {
      set.label_sets.insert(set.label_sets.end(),
                            {static_cast<uint8_t>(ring % 2), static_cast<uint8_t>(1 - ring % 2), 1});
      set.known.push_back(v % 10 != 3);
      set.graph_of.push_back(ring);
    } else {
      set.labels.push_back(v % 10 == 3 ? -1 : ring % 2);
    }
  }
  set.classes = sets_of_labels ? 3 : 2;
  set.features = array_of(std::vector<int64_t>{n, 4}, X);
  return set;
}

TrainConfig config_for(const std::string& path) {
  TrainConfig config;
  config.dataset = path;
  config.epochs = config.patience = 60;
  config.lr = 0.05;
  config.weight_decay = 0;
  return config;
}

TEST(FilesToTraining, GapsAreNeitherLearnedFromNorJudged) {
  const TemporaryFolder folder;
  write_compact(rings(6, false), folder.path("rings"));
  const Dataset set = load_dataset(config_for(folder.path("rings")));
  EXPECT_TRUE(set.drawn_split);
  EXPECT_EQ(set.known.sum().item<int64_t>(), 54);
  const Split& split = set.splits.at(0);
  const auto all = torch::cat({split.train, split.val, split.test});
  EXPECT_EQ(all.numel(), 54);
  EXPECT_TRUE((set.labels.index_select(0, all) >= 0).all().item<bool>());
  EXPECT_EQ(std::get<0>(torch::_unique(all)).numel(), 54);
  for (const auto* part : {&split.train, &split.val, &split.test})  // both classes in every part
    EXPECT_EQ(std::get<0>(torch::_unique(set.labels.index_select(0, *part))).numel(), 2);
}

TEST(FilesToTraining, PredictsTheGaps) {
  const TemporaryFolder folder;
  write_compact(rings(6, false), folder.path("rings"));
  const RunResult summary = train(config_for(folder.path("rings")), folder.path("run"));
  EXPECT_EQ(summary.score.test, 1);
  EXPECT_EQ(summary.metric, "accuracy");
  std::ifstream file(folder.path("run/predictions.csv"));
  std::string line;
  for (int64_t row = -1; std::getline(file, line); ++row) {
    if (row != 13) continue;
    EXPECT_EQ(line.substr(0, 10), "13,none,,1") << line;  // ring 1, a gap
  }
}

// The rings with weights; arcs of one in three have none.
RawDataset weighted_rings(bool several_graphs) {
  RawDataset set = rings(6, several_graphs);
  for (size_t k = 0; k < set.arcs.source.size(); ++k)
    set.arcs.weight.push_back(k % 3 == 0 ? 0 : 1e-4 * static_cast<double>(1 + k));
  return set;
}

TEST(FilesToTraining, WeightsOfArcsReachTheGraph) {
  const TemporaryFolder folder;
  write_compact(weighted_rings(false), folder.path("rings"));
  TrainConfig config = config_for(folder.path("rings"));
  const Dataset set = load_dataset(config);
  EXPECT_EQ(set.graph.arcs(), 40);
  EXPECT_EQ(set.arcs_in_file, 60);
  EXPECT_DOUBLE_EQ(set.graph.weight.at(0), 2e-4);
  EXPECT_NO_THROW(validate(set));
  config.edge_weights = EdgeWeights::ignore;
  EXPECT_EQ(load_dataset(config).graph.arcs(), 60) << "an arc of weight 0 is an arc";
  EXPECT_TRUE(load_dataset(config).graph.weight.empty());
  config.edge_weights = EdgeWeights::use;
  EXPECT_EQ(load_dataset(config).graph.weight, set.graph.weight);
  write_compact(rings(6, false), folder.path("plain"));
  config.dataset = folder.path("plain");
  EXPECT_THROW(load_dataset(config), ArgumentError);
  config.dataset = "karate";
  EXPECT_THROW(load_dataset(config), ArgumentError);
}

TEST(FilesToTraining, SeveralGraphsShareOneScaleOfWeights) {
  const TemporaryFolder folder;
  write_compact(weighted_rings(true), folder.path("rings"));
  const TrainConfig config = config_for(folder.path("rings"));
  const Dataset set = load_dataset(config);
  const auto graphs = graph_matrices(set, config);
  ASSERT_EQ(graphs.size(), 6U);
  const Propagation whole = make_propagation(set, config);
  std::vector<double> weights;
  for (const auto& graph : graphs)
    for (const double w : weights_of(*graph.S)) weights.push_back(w);
  EXPECT_EQ(weights, weights_of(whole)) << "the rings are consecutive";
}

TEST(FilesToTraining, ACheckpointKeepsTheScaleOfWeights) {
  const TemporaryFolder folder;
  write_compact(weighted_rings(false), folder.path("rings"));
  const TrainConfig config = config_for(folder.path("rings"));
  train(config, folder.path("run"));
  const TrainedModel model = load_model(folder.path("run"));
  const Dataset set = load_dataset(config);
  const double scale = scale_of_weights(set.graph, config.propagation);
  EXPECT_EQ(model.config().propagation.weight_scale, scale) << "to the bit";
  EXPECT_EQ(config.propagation.weight_scale, 0);
  // The same weights in a graph with heavier arcs elsewhere mean the same.
  const auto here = model.predict(set).scores;
  std::vector<int64_t> source, target;
  std::vector<double> weight = set.graph.weight;
  for (int64_t v = 0; v < 60; ++v)
    for (int64_t a = set.graph.row_begin[v]; a < set.graph.row_begin[v + 1]; ++a) {
      source.push_back(v);
      target.push_back(set.graph.target[a]);
    }
  source.push_back(60);
  target.push_back(61);
  weight.push_back(1e5);
  const Dataset joined = make_dataset(Graph::from_arcs(62, source, target, weight),
                                      torch::cat({set.features, torch::ones({2, 4}, torch::kFloat64)}));
  EXPECT_TRUE(torch::allclose(model.predict(joined).scores.narrow(0, 0, 60), here, 1e-5, 1e-5));
}

TEST(FilesToTraining, AModelThatDoesNotReadWeightsSaysSo) {
  const TemporaryFolder folder;
  write_compact(weighted_rings(false), folder.path("rings"));
  for (const auto& [model, silent] : std::vector<std::pair<std::string, bool>>{{"gat", false},
                                                                               {"graphsage", false},
                                                                               {"h2gcn", false},
                                                                               {"gcn", true},
                                                                               {"geom-gcn", true},
                                                                               {"eignn", true}}) {
    TrainConfig config = config_for(folder.path("rings"));
    assign(config, "model", model);
    std::vector<std::string> heard;
    const WarningScope scope([&](const std::string& text) { heard.push_back(text); });
    make_model(load_dataset(config), config, nullptr);
    EXPECT_EQ(heard.empty(), silent) << model;
    if (!silent && !heard.empty()) EXPECT_CONTAINS(heard[0], "does not read them");
  }
}

TEST(FilesToTraining, AnEmptySetOfLabelsIsNotAnUnknownOne) {
  const TemporaryFolder folder;
  Dataset set;
  set.graph = chain_graph(1, 3);
  set.classes = 2;
  set.features = torch::ones({3, 1}, torch::kFloat64);
  set.labels = torch::tensor({1, 1, 0, 0, 0, 0}, torch::kUInt8).view({3, 2});
  set.known = torch::tensor({true, true, false});
  const auto index = [](int64_t v) { return torch::tensor({v}, torch::kInt64); };
  const auto scores = torch::tensor({9.0, -9.0, -9.0, -9.0, 9.0, 9.0}, torch::kFloat64).view({3, 2});
  const TrainedModel model({}, 1, 2, /*multi_label=*/true, {});
  write_predictions_csv(folder.path("p.csv"), set, {index(0), index(1), torch::empty({0}, torch::kInt64)},
                        predictions_of(model, scores), {});
  const std::string text = read_whole_file(folder.path("p.csv"));
  EXPECT_CONTAINS(text, "\n0,train,0 1,0,");
  EXPECT_CONTAINS(text, "\n1,val,-,-,");
  EXPECT_CONTAINS(text, "\n2,none,,0 1,");
}

TEST(FilesToTraining, SetsOfLabelsOnSeveralGraphs) {
  const TemporaryFolder folder;
  write_compact(rings(10, true), folder.path("rings"));
  TrainConfig config = config_for(folder.path("rings"));
  for (const char* head : {"plain", "residual"}) {
    assign(config, "head", head);
    config.eignn().width = 16;
    const std::string out = folder.path(head);
    const RunResult summary = train(config, out);
    EXPECT_EQ(summary.metric, "micro_f1");
    EXPECT_GT(summary.score.test, 0.95) << head;
    const auto json = nlohmann::json::parse(read_whole_file(out + "/summary.json"));
    EXPECT_EQ(json["test_micro_f1"], summary.score.test);
    EXPECT_TRUE(json["test_accuracy"].is_null());
  }
}

TEST(FilesToTraining, GraphsStayWholeInADrawnSplit) {
  const TemporaryFolder folder;
  write_compact(rings(10, true), folder.path("rings"));
  const Dataset set = load_dataset(config_for(folder.path("rings")));
  EXPECT_EQ(set.graphs(), 10);
  std::set<int64_t> seen;
  const Split& split = set.splits.at(0);
  for (const auto* part : {&split.train, &split.val, &split.test}) {
    std::set<int64_t> here;
    for (int64_t k = 0; k < part->numel(); ++k) here.insert(set.graph_of[(*part)[k].item<int64_t>()]);
    for (const int64_t g : here) EXPECT_TRUE(seen.insert(g).second) << "graph " << g << " is in two parts";
  }
}

TEST(FilesToTraining, TrainsOnTheFirstGraphsAlone) {
  const TemporaryFolder folder;
  write_compact(rings(10, true), folder.path("rings"));
  TrainConfig config = config_for(folder.path("rings"));
  const Dataset all = load_dataset(config);
  config.train_graphs = 2;
  const Dataset some = load_dataset(config);
  EXPECT_EQ(all.graphs(), 10);
  const auto graphs_in = [](const Dataset& set, const torch::Tensor& nodes) {
    std::set<int64_t> graphs;
    for (int64_t k = 0; k < nodes.numel(); ++k) graphs.insert(set.graph_of[nodes[k].item<int64_t>()]);
    return graphs;
  };
  const Split &before = all.splits.at(0), &after = some.splits.at(0);
  const auto graphs = graphs_in(all, before.train), kept = graphs_in(some, after.train);
  ASSERT_GT(graphs.size(), 2u);
  EXPECT_EQ(kept, std::set<int64_t>(graphs.begin(), std::next(graphs.begin(), 2)));
  EXPECT_EQ(after.train.numel(), 18);  // both whole, but for the gaps
  EXPECT_TRUE(torch::equal(before.val, after.val));
  EXPECT_TRUE(torch::equal(before.test, after.test));
  EXPECT_EQ(some.nodes(), all.nodes());
  config.train_graphs = 100;
  EXPECT_TRUE(torch::equal(load_dataset(config).splits[0].train, before.train));
  config.dataset = "karate";
  EXPECT_CONTAINS(message_of([&] { load_dataset(config); }), "(train-graphs)");
}

TEST(FilesToTraining, AResumedRunOverGraphsIsTheSame) {
  const TemporaryFolder folder;
  write_compact(rings(10, true), folder.path("rings"));
  TrainConfig config = config_for(folder.path("rings"));
  config.eignn().head = Head::residual;
  config.eignn().width = 8;
  config.eignn().dropout = 0.2;
  config.eignn().equilibria = 2;
  config.schedule = Schedule::cosine;
  config.epochs = config.patience = 12;
  const RunResult whole = train(config, folder.path("whole"));
  TrainHooks hooks;
  int64_t epochs = 0;
  hooks.interrupted = [&] { return ++epochs == 5; };
  EXPECT_TRUE(train(config, folder.path("cut"), false, hooks).interrupted);
  const RunResult resumed = train({}, folder.path("cut"), true);
  EXPECT_EQ(resumed.loss.test, whole.loss.test);
  EXPECT_EQ(read_whole_file(folder.path("cut/predictions.csv")),
            read_whole_file(folder.path("whole/predictions.csv")));
}

TEST(FilesToTraining, RowsAreDividedByTheirSum) {
  const TemporaryFolder folder;
  RawDataset set = rings(6, false);
  auto X = set.features.as<double>();
  for (int k = 0; k < 4; ++k) X[k] = 0;  // a node without features
  set.features = array_of(std::vector<int64_t>{60, 4}, X);
  write_compact(set, folder.path("rings"));
  TrainConfig config = config_for(folder.path("rings"));
  config.feature_norm = FeatureNorm::row;
  const auto sums = load_dataset(config).features.sum(1);
  EXPECT_EQ(sums[0].item<double>(), 0);
  EXPECT_LE((sums.narrow(0, 1, 59) - 1).abs().max().item<double>(), 1e-15);

  X[7] = -0.5;
  set.features = array_of(std::vector<int64_t>{60, 4}, X);
  write_compact(set, folder.path("negative"));
  config.dataset = folder.path("negative");
  EXPECT_CONTAINS(message_of([&] { load_dataset(config); }), "a feature is negative");
}

TEST(FilesToTraining, TooFewLabelsAreRefused) {
  const TemporaryFolder folder;
  RawDataset set = rings(2, false);
  for (size_t v = 2; v < set.labels.size(); ++v) set.labels[v] = -1;
  set.labels[12] = 1;
  write_compact(set, folder.path("few"));
  EXPECT_CONTAINS(message_of([&] { load_dataset(config_for(folder.path("few"))); }), "too few");
}

TEST(RealData, PpiTrainsOnItsKnownRows) {
  const auto path = real_data("ppi");
  if (!path) GTEST_SKIP() << no_real_data;
  TrainConfig config;
  config.dataset = *path;
  const Dataset set = load_dataset(config);
  EXPECT_EQ(set.graphs(), 24);
  EXPECT_EQ(set.nodes() - set.known.sum().item<int64_t>(), 714);
  const Split& split = set.splits.at(0);
  EXPECT_EQ(split.train.numel() + split.val.numel() + split.test.numel(), 56944 - 714);
  EXPECT_FALSE(set.drawn_split);
}

}  // namespace
}  // namespace eignn
