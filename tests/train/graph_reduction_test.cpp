// Training on parts and on clusters: what they compute, what they are taught, and that a kept run has them
// again.
#include "train/graph_reduction.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <map>

#include "eignn/error.h"
#include "eignn/explain.h"
#include "eignn/train.h"
#include "graph/grouping.h"
#include "models/cluster_means.h"
#include "run/checkpoint.h"
#include "run/training_record.h"
#include "support/message_of.h"
#include "support/oracle.h"
#include "support/temporary_folder.h"
#include "train/assemble.h"
#include "train/plan_request.h"
#include "train/run_batch.h"
#include "train/trainer.h"

namespace eignn {
namespace {

using test::random_matrix;
using test::relative_error;

// Two classes that features hint at, on a ring of nodes with some chords.
Dataset ring(int64_t nodes = 60) {
  std::vector<int64_t> from, to;
  for (int64_t v = 0; v < nodes; ++v)
    for (const int64_t step : {1, 2}) {
      from.push_back(v);
      to.push_back((v + step) % nodes);
    }
  const auto side = (torch::arange(nodes) >= nodes / 2).to(torch::kInt64);
  return make_dataset(Graph::from_arcs(nodes, from, to),
                      random_matrix(nodes, 4, 1) + 2 * side.unsqueeze(1).to(torch::kFloat64), side, 3);
}

TrainConfig with(const std::map<std::string, std::string>& texts) {
  TrainConfig config;
  config.threads = 1;
  config.dtype = Precision::float64;
  assign(config, texts);
  return config;
}

torch::Tensor scores_of_all(const Dataset& data, const TrainConfig& config) {
  const torch::NoGradGuard guard;
  const auto model = make_model(data, config, nullptr);
  model->eval();
  return model->scores(torch::arange(data.nodes()));
}

TEST(Partition, AlongComponentsGivesTheScoresOfTheWholeGraph) {
  for (const char* model : {"eignn", "gcn"}) {
    TrainConfig whole = with({{"model", model},
                              {"chain-length", "9"},
                              {"chains-per-class", "3"},
                              {"feature-dim", "5"},
                              {"noise", "0.5"}});
    TrainConfig parts = whole;
    parts.partition = 3;
    const Dataset data = load_dataset(whole), cut = load_dataset(parts);
    EXPECT_EQ(cut.graphs(), 3);
    EXPECT_EQ(cut.reduction->facts.lost_edges, 0);
    EXPECT_EQ(cut.reduction->facts.lost_weight, 0);
    EXPECT_LE(relative_error(scores_of_all(cut, parts), scores_of_all(data, whole)), 1e-10) << model;
  }
}

#ifdef EIGNN_TEST_METIS
TEST(Partition, ComputesWhatTheGraphWithoutTheCutEdgesHas) {
  TrainConfig parts = with({{"partition", "4"}}), whole = with({});
  const Dataset data = prepared(ring(), parts);
  EXPECT_EQ(data.graphs(), 4);
  EXPECT_GT(data.reduction->facts.lost_edges, 0);
  EXPECT_EQ(data.graph.arcs(), ring().graph.arcs()) << "the data keep their graph";
  Dataset without = prepared(ring(), whole);
  std::vector<int64_t> source, target;
  for (int64_t v = 0; v < data.nodes(); ++v)
    for (int64_t a = data.graph.row_begin[v]; a < data.graph.row_begin[v + 1]; ++a)
      if (data.graph_of[v] == data.graph_of[data.graph.target[a]]) {
        source.push_back(v);
        target.push_back(data.graph.target[a]);
      }
  EXPECT_EQ(data.reduction->facts.edges - data.reduction->facts.lost_edges,
            static_cast<int64_t>(source.size()));
  without.graph = Graph::from_arcs(data.nodes(), source, target);
  EXPECT_LE(relative_error(scores_of_all(data, parts), scores_of_all(without, whole)), 1e-10);
}

TEST(Partition, ItsPartsAreBatches) {
  TrainConfig config = with({{"partition", "4"}, {"batch-graphs", "1"}, {"lr", "0.1"}});
  const Dataset data = prepared(ring(), config);
  Trainer one(config, data, 0, nullptr);
  config.batch_graphs = 4;
  Trainer all(config, data, 0, nullptr);
  one.step(0);
  all.step(0);
  const auto weight = [](Trainer& trainer) { return trainer.model().propagation_weights()[0].detach(); };
  EXPECT_GT(relative_error(weight(one), weight(all)), 1e-3) << "four steps of Adam go farther than one";
}

TEST(Partition, OfSeveralGraphsCutsEachByItself) {
  Dataset data = ring(40);
  const Graph twice = [&] {
    std::vector<int64_t> source, target;
    for (const int64_t shift : {0, 40})
      for (int64_t v = 0; v < 40; ++v)
        for (int64_t a = data.graph.row_begin[v]; a < data.graph.row_begin[v + 1]; ++a) {
          source.push_back(v + shift);
          target.push_back(data.graph.target[a] + shift);
        }
    return Graph::from_arcs(80, source, target);
  }();
  data.graph = twice;
  data.features = torch::cat({data.features, data.features});
  data.labels = torch::cat({data.labels, data.labels});
  data.known = torch::cat({data.known, data.known});
  data.graph_of.assign(80, 0);
  std::fill(data.graph_of.begin() + 40, data.graph_of.end(), 1);
  const TrainConfig config = with({{"partition", "2"}});
  const Dataset cut = reduced(data, config);
  EXPECT_EQ(cut.graphs(), 4);
  for (int64_t v = 0; v < 40; ++v) {
    EXPECT_LT(cut.graph_of[v], 2);
    EXPECT_GE(cut.graph_of[v + 40], 2);
  }
  EXPECT_EQ(reduced(cut, with({})).graph_of, data.graph_of) << "a reduction can be taken back";
  EXPECT_EQ(reduced(cut, config).graph_of, cut.graph_of);
}

TEST(Partition, AKeptRunHasItsPartsAgain) {
  const TemporaryFolder folder;
  const Dataset data = ring();
  TrainOptions options;
  options.set("partition", "4")
      .set("epochs", "12")
      .set("patience", "12")
      .set("threads", "1")
      .folder(folder.path("run"));
  const TrainedRun run = train(data, options);
  ASSERT_TRUE(run.result.reduction);
  EXPECT_EQ(run.result.reduction->groups, 4);
  const TrainedModel again = load_model(folder.path("run"));
  const auto& kept = again.record()->reduction;
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->group_of, run.model.record()->reduction->group_of);
  EXPECT_TRUE(again.predict(data).scores.equal(run.model.predict(data).scores));
  EXPECT_TRUE(again.recognise(data).unchanged) << "it knows its graph by all arcs";
  EXPECT_DOUBLE_EQ(again.evaluate(data, data.splits[0].test).score, run.result.score.test);

  // What is kept goes before what METIS would say now: a model whose record has other parts computes on them.
  auto record = std::make_shared<TrainingRecord>(*again.record());
  auto other = std::make_shared<GraphReduction>(*kept);
  for (int64_t v = 0; v < 60; ++v) other->group_of[v] = v % 2;
  other->groups = 2;
  record->reduction = other;
  const TrainedModel moved(again.config(), again.features(), again.classes(), false, again.weights(), record);
  EXPECT_EQ(as_trained(moved, data).graph_of, other->group_of);
  EXPECT_FALSE(moved.predict(data).scores.equal(again.predict(data).scores));
  // On another graph they mean nothing.
  EXPECT_EQ(as_trained(moved, ring(40)).graphs(), 4);
}

TEST(Partition, AnInterruptedRunGoesOnWithItsParts) {
  const TemporaryFolder folder;
  const Dataset data = ring();
  const auto options = [&] {
    TrainOptions o;
    return o.set("partition", "3").set("epochs", "9").set("patience", "9").set("threads", "1");
  };
  const TrainedRun whole = train(data, options());
  int epochs = 0;
  TrainHooks hooks;
  hooks.interrupted = [&] { return ++epochs == 4; };
  EXPECT_TRUE(train(data, options().folder(folder.path("run")).hooks(hooks)).result.interrupted);
  const TrainedRun rest = train(data, TrainOptions{}.resume(folder.path("run")));
  EXPECT_EQ(rest.result.loss.val, whole.result.loss.val);
  for (const auto& [name, weight] : whole.model.weights())
    EXPECT_TRUE(weight.equal(rest.model.weights().at(name))) << name;
}
#endif

TEST(Coarsening, OfAllNodesIsTheIdentity) {
  const TrainConfig config = with({{"coarsen", "1"}});
  EXPECT_FALSE(prepared(ring(), config).reduction);
}

// The scores of a node are those of its cluster in a model that was made by hand on the coarse graph.
TEST(Coarsening, PredictsEachNodeByItsCluster) {
  for (const char* loops : {"on", "off"}) {
    const TrainConfig config = with({{"coarsen", "0.4"}, {"self-loops", loops}, {"solver", "spectral"}});
    const Dataset data = prepared(ring(), config);
    const GraphReduction& clusters = *data.reduction;
    EXPECT_EQ(clusters.groups, 24);
    auto C = torch::zeros({60, 24}, torch::kFloat64);
    for (int64_t v = 0; v < 60; ++v) C[v][clusters.group_of[v]] = 1;
    // Cᵀ (A + I) C, normalised, and the means of the features.
    auto A = torch::zeros({60, 60}, torch::kFloat64);
    const Graph both_ways = data.graph.symmetrised();
    for (int64_t v = 0; v < 60; ++v)
      for (int64_t a = both_ways.row_begin[v]; a < both_ways.row_begin[v + 1]; ++a)
        A[v][both_ways.target[a]] = 1;
    if (config.propagation.self_loops) A += torch::eye(60, torch::kFloat64);
    const auto coarse = C.t().mm(A).mm(C), degree = coarse.sum(1).rsqrt();
    const auto S = degree.unsqueeze(1) * coarse * degree;
    const auto matrices = graph_matrices(data, config);
    ASSERT_EQ(matrices.size(), 1u);
    EXPECT_LE(relative_error(test::dense_S(*matrices[0].S), S), 1e-14) << loops;
    const auto X = C.t().mm(data.features) / C.sum(0).unsqueeze(1);
    EXPECT_LE(relative_error(model_features(data), X), 1e-14);

    const torch::NoGradGuard guard;
    const auto model = make_model(data, config, nullptr);
    model->eval();
    const auto F = model->named_parameters()["F"], B = model->named_parameters()["B"];
    const auto f = test::dense_equilibrium(*matrices[0].S, F, X, 0.8).mm(B.t());
    EXPECT_EQ(model->nodes(), 60);
    const auto index = torch::tensor({59, 0, 0, 31, 1}, torch::kInt64);
    EXPECT_LE(relative_error(model->scores(index), C.mm(f).index_select(0, index)), 1e-9);
  }
}

TEST(Coarsening, IsDifferentiableInTheFeaturesOfTheNodes) {
  const TrainConfig config = with({{"coarsen", "0.5"}, {"solver", "spectral"}});
  const Dataset data = prepared(ring(), config);
  const auto model = make_model(data, config, nullptr);
  model->eval();
  const auto index = torch::tensor({4, 17}, torch::kInt64);
  const auto f = [&](const torch::Tensor& X) {
    model->use_features(X);
    return model->scores(index).sum();
  };
  auto X = data.features.clone().requires_grad_();
  f(X).backward();
  const auto D = random_matrix(60, 4, 9);
  const torch::NoGradGuard guard;
  const double slope = (f(data.features + 1e-5 * D) - f(data.features - 1e-5 * D)).item<double>() / 2e-5;
  EXPECT_NEAR((X.grad() * D).sum().item<double>(), slope, 1e-6 * (1 + std::abs(slope)));
}

TEST(Coarsening, MeansOfSparseFeaturesStaySparse) {
  const auto X = random_matrix(7, 5, 4) * (random_matrix(7, 5, 5) > 0.5), sizes = torch::tensor({2, 4, 1});
  const auto cluster_of = torch::tensor({0, 1, 1, 0, 1, 2, 1}, torch::kInt64);
  const auto dense = cluster_means(X, cluster_of, sizes),
             sparse = cluster_means(X.to_sparse(), cluster_of, sizes);
  EXPECT_TRUE(sparse.is_sparse());
  EXPECT_LE(relative_error(sparse.to_dense(), dense), 1e-15);
  EXPECT_LE(relative_error(dense[0], (X[0] + X[3]) / 2), 1e-15);
}

TEST(Coarsening, TeachesTheLabelOfMostTrainingNodesOfACluster) {
  Dataset data;
  data.reduction = [] {
    auto clusters = std::make_shared<GraphReduction>();
    clusters->kind = ReductionKind::coarsening;
    clusters->groups = 3;
    clusters->group_of = {0, 0, 0, 0, 1, 1, 2, 2};
    return clusters;
  }();
  const auto index = [](std::vector<int64_t> nodes) { return torch::tensor(nodes, torch::kInt64); };
  data.labels = index({1, 0, 1, 0, 1, 0, 1, 1});
  const TrainingTargets targets = training_targets(data, index({0, 1, 2, 4, 5}));
  EXPECT_TRUE(targets.nodes.equal(index({0, 4}))) << "the cluster 2 has no training node";
  EXPECT_EQ(targets.labels[0].item<int64_t>(), 1) << "two of three";
  EXPECT_EQ(targets.labels[4].item<int64_t>(), 0) << "one of two: the lower";
  // Labels of other nodes decide nothing.
  Dataset other = data;
  other.labels = data.labels.clone();
  for (const int64_t v : {3, 6, 7}) other.labels[v] = 1 - other.labels[v];
  const TrainingTargets same = training_targets(other, index({0, 1, 2, 4, 5}));
  EXPECT_TRUE(same.labels.index_select(0, same.nodes).equal(targets.labels.index_select(0, targets.nodes)));
  // Sets of labels one by one, numbers by their mean.
  data.labels = torch::tensor({1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0}, torch::kUInt8).view({8, 2});
  EXPECT_TRUE(training_targets(data, index({0, 1, 2})).labels[0].equal(torch::tensor({1, 1}, torch::kUInt8)));
  data.labels = torch::arange(8, torch::kFloat64).unsqueeze(1);
  EXPECT_DOUBLE_EQ(training_targets(data, index({1, 2})).labels[1].item<double>(), 1.5);
  EXPECT_DOUBLE_EQ(data.labels[1].item<double>(), 1) << "the data's own labels stay";
}

TEST(Coarsening, TrainsPredictsAndComesBack) {
  const TemporaryFolder folder;
  const Dataset data = ring();
  for (const char* model : {"eignn", "gcn", "graphsage"}) {
    TrainOptions options;
    options.set("model", model)
        .set("coarsen", "0.5")
        .set("epochs", "60")
        .set("patience", "60")
        .set("threads", "1")
        .folder(folder.path(model));
    const TrainedRun run = train(data, options);
    EXPECT_GT(run.result.score.test, 0.7) << model;
    ASSERT_TRUE(run.result.reduction);
    EXPECT_EQ(run.result.reduction->groups, 30);
    EXPECT_GT(run.result.reduction->lost_edges, 0);
    const TrainedModel again = load_model(folder.path(model));
    const auto scores = again.predict(data).scores;
    EXPECT_TRUE(scores.equal(run.model.predict(data).scores)) << model;
    const auto& cluster_of = again.record()->reduction->group_of;
    for (int64_t v = 1; v < 60; ++v)
      if (cluster_of[v] == cluster_of[v - 1]) {
        EXPECT_TRUE(scores[v].equal(scores[v - 1])) << "nodes of a cluster are one";
      }
  }
}

TEST(Reduction, RefusesWhatCannotBe) {
  const Dataset data = ring();
  const auto refused = [&](const std::map<std::string, std::string>& texts) {
    return message_of<ArgumentError>([&] {
      TrainOptions options;
      for (const auto& [name, text] : texts) options.set(name, text);
      train(data, options.set("epochs", "1"));
    });
  };
  EXPECT_CONTAINS(refused({{"partition", "61"}}), "a graph of 60 nodes has no 61 parts (partition)");
  EXPECT_CONTAINS(refused({{"partition", "-1"}}), "(partition)");
  for (const char* share : {"0", "-0.5", "1.01"}) EXPECT_CONTAINS(refused({{"coarsen", share}}), "(coarsen)");
  EXPECT_CONTAINS(refused({{"partition", "2"}, {"coarsen", "0.5"}}), "(coarsen)");
  EXPECT_CONTAINS(refused({{"partition", "1"}, {"solver", "truncated"}, {"eigenpairs", "61"}}),
                  "(eigenpairs)");
  EXPECT_CONTAINS(message_of<ArgumentError>([&] {
                    const TrainConfig config = with({{"coarsen", "0.5"}});
                    require_batchable(config, prepared(data, config));
                  }),
                  "(batch-runs)");
  TrainOptions options;
  const TrainedRun run = train(data, options.set("coarsen", "0.5").set("epochs", "2"));
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { explain(run.model, data, 3); }), "(coarsen)");
}

TEST(Reduction, ClustersAreChecked) {
  const TrainConfig config = with({});
  const auto model = make_model(prepared(ring(), config), config, nullptr);
  for (const auto& wrong : {torch::Tensor(), torch::zeros({60}, torch::kInt64), torch::arange(61),
                            torch::arange(60) - 1, torch::arange(60).to(torch::kFloat64)})
    EXPECT_THROW(model->predict_by_clusters(wrong), ArgumentError);
  model->predict_by_clusters(torch::arange(120).remainder(60));
  EXPECT_EQ(model->nodes(), 120);
  EXPECT_THROW(model->predict_by_clusters(torch::arange(120)), ArgumentError) << "it has clusters";
  EXPECT_THROW(model->scores(torch::tensor({120}, torch::kInt64)), ArgumentError);
  EXPECT_THROW(model->use_features(torch::zeros({60, 4}, torch::kFloat64)), ArgumentError);
}

}  // namespace
}  // namespace eignn
