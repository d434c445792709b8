// The library as a program uses it: data in memory, training, saving, loading, prediction, several threads.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "eignn/attack.h"
#include "eignn/error.h"
#include "eignn/execution.h"
#include "eignn/inspect.h"
#include "eignn/search.h"
#include "eignn/train.h"
#include "eignn/warning.h"
#include "support/message_of.h"
#include "support/oracle.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

using test::random_matrix;

// Two communities that the arcs tell apart and the features hint at.
Dataset communities(int64_t nodes, uint64_t seed) {
  const auto side = torch::arange(nodes).remainder(2);
  std::vector<int64_t> from, to;
  for (int64_t v = 0; v < nodes; ++v)
    for (const int64_t step : {2, 6, 10}) {
      from.push_back(v);
      to.push_back((v + step) % nodes);
    }
  return make_dataset(Graph::from_arcs(nodes, from, to),
                      random_matrix(nodes, 5, seed) + 4 * side.unsqueeze(1).to(torch::kFloat64), side, seed);
}

TrainOptions brief(const ModelOptions& model = EignnOptions{}) {
  TrainOptions options;
  return options.model(model).set("epochs", "30").set("patience", "30").set("threads", "1");
}

bool same_weights(const TrainedModel& a, const TrainedModel& b) {
  if (a.weights().size() != b.weights().size()) return false;
  for (const auto& [name, tensor] : a.weights())
    if (!b.weights().count(name) || !b.weights().at(name).equal(tensor)) return false;
  return true;
}

TEST(Library, TrainsOnTensorsSavesLoadsAndPredictsOnAnotherGraph) {
  const TemporaryFolder folder;
  const Dataset data = communities(80, 1), other = communities(60, 2);
  for (const ModelOptions& model : {ModelOptions(EignnOptions{}), ModelOptions(GcnOptions{})}) {
    const TrainedRun run = train(data, brief(model).set("epochs", "150"));
    EXPECT_GT(run.result.score.test, 0.8) << name(model);
    const std::string file = folder.path(std::string(name(model)) + ".safetensors");
    run.model.save(file);
    const TrainedModel again = load_model(file);
    EXPECT_TRUE(same_weights(run.model, again));
    EXPECT_EQ(to_strings(again.config()), to_strings(run.model.config()));

    const Predictions here = run.model.predict(other), there = again.predict(other);
    EXPECT_TRUE(here.scores.equal(there.scores));
    EXPECT_EQ(here.probabilities.sizes(), (torch::IntArrayRef{60, 2}));
    EXPECT_TRUE(here.classes.equal(here.scores.argmax(1)));
    const auto nodes = torch::arange(60);
    EXPECT_DOUBLE_EQ(again.evaluate(other, nodes).score,
                     here.classes.eq(other.labels).to(torch::kFloat64).mean().item<double>());
    const Dataset unlabelled = make_dataset(other.graph, other.features);
    EXPECT_TRUE(again.predict(unlabelled).scores.equal(here.scores)) << "prediction needs no labels";
  }
}

TEST(Library, KeepsARunInTheFolderThatItIsGivenAndNowhereElse) {
  const TemporaryFolder folder;
  const std::string home = folder.path("home");
  std::filesystem::create_directories(home);
  setenv("XDG_CACHE_HOME", home.c_str(), 1);
  unsetenv("EIGNN_CACHE");
  const Dataset data = communities(40, 1);
  TrainOptions options = brief();
  const TrainedRun run = train(data, options.folder(folder.path("run")));
  EXPECT_TRUE(std::filesystem::is_empty(home));
  EXPECT_TRUE(same_weights(run.model, load_model(folder.path("run"))));
  EXPECT_THROW(train(data, options), DataError) << "the folder holds a run already";
  unsetenv("XDG_CACHE_HOME");
}

TEST(Library, LeavesThreadsAndRandomGeneratorsOfTheCallerAsTheyWere) {
  const Dataset data = communities(40, 1);
  at::set_num_threads(2);
  torch::manual_seed(7);
  const auto expected = torch::rand({4});
  torch::manual_seed(7);
  EignnOptions with_dropout;
  with_dropout.head = Head::batch_norm;
  with_dropout.dropout = 0.5;
  const TrainedRun run = train(data, brief(with_dropout));
  run.model.predict(data);
  EXPECT_TRUE(torch::rand({4}).equal(expected));
  EXPECT_EQ(at::get_num_threads(), 2);
}

TEST(Library, TwoTrainingsAtTheSameTimeGiveTheBitsTheyGiveAlone) {
  const Dataset first = communities(60, 1), second = communities(90, 2);
  EignnOptions wide;
  wide.head = Head::l2;
  wide.dropout = 0.5;
  for (const char* solver : {"spectral", "direct", "krylov", "sparse", "deflated", "picard"}) {
    EignnOptions narrow;
    narrow.solver = wide.solver = solver;
    const auto train_first = [&] { return train(first, brief(narrow)); };
    const auto train_second = [&] { return train(second, brief(wide)); };
    const TrainedRun alone_first = train_first(), alone_second = train_second();
    std::vector<TrainedRun> beside;
    std::thread other([&] { beside.push_back(train_first()); });
    const TrainedRun here = train_second();
    other.join();
    EXPECT_TRUE(same_weights(here.model, alone_second.model)) << solver;
    EXPECT_TRUE(same_weights(beside.at(0).model, alone_first.model)) << solver;
  }
}

TEST(Library, AnExecutionCannotShareTf32) {
  const Execution running({1, /*tf32=*/true});
  EXPECT_CONTAINS(message_of<ArgumentError>([] { Execution({1}); }), "(tf32)");
}

TEST(Library, RefusesWhatDoesNotFit) {
  const Dataset data = communities(40, 1);
  const TrainedRun run = train(data, brief());
  const auto refused = [](const char* field, const auto& act) {
    try {
      act();
      ADD_FAILURE() << field << ": nothing was thrown";
    } catch (const ArgumentError& error) {
      EXPECT_EQ(error.field(), field) << error.what();
    }
  };
  Dataset narrow = data;
  narrow.features = data.features.narrow(1, 0, 3);
  refused("data", [&] { run.model.predict(narrow); });
  Dataset short_of_rows = data;
  short_of_rows.features = data.features.narrow(0, 0, 39);
  refused("features", [&] { train(short_of_rows); });
  Dataset not_finite = data;
  not_finite.features = data.features.clone();
  not_finite.features[3][1] = std::nan("");
  refused("features", [&] { train(not_finite); });
  for (const auto& nodes : {torch::tensor({-1}, torch::kInt64), torch::tensor({40}, torch::kInt64),
                            torch::tensor({1.5}), torch::empty({0}, torch::kInt64), torch::Tensor()})
    refused("nodes", [&] { run.model.evaluate(data, nodes); });
  refused("split", [&] { train(data, brief().set("split", "3")); });
  refused("gamma", [&] { train(data, brief().set("gamma", "1.5")); });
  refused("hops", [&] { brief().set("hops", "5"); });
  refused("labels", [&] { make_dataset(data.graph, data.features, data.labels - 3); });
  refused("features", [&] { make_dataset(data.graph, data.features.t()); });
  EXPECT_THROW(load_model("/no/such/folder"), Error);
}

TEST(Library, AttacksOfSeveralSizesOnAKeptModel) {
  const Dataset data = communities(80, 1);
  const TrainedModel model = train(data, brief()).model;
  const auto& nodes = data.splits[0].test;
  const auto reports = attack(model, data, nodes,
                              {{AttackMethod::fgsm, 0}, {AttackMethod::fgsm, 1}, {AttackMethod::fgsm, 100}});
  ASSERT_EQ(reports.size(), 3u);
  EXPECT_EQ(reports[0].kept, reports[0].right);
  EXPECT_TRUE(reports[0].scores.equal(reports[0].clean_scores));
  EXPECT_LT(reports[2].accuracy(), reports[0].accuracy()) << "a change of 100 takes some class";
  for (const AttackReport& report : reports) {
    ASSERT_TRUE(report.certified);  // EIGNN's plain head is linear
    EXPECT_LE(*report.certified, report.kept);
    EXPECT_EQ(report.certified_radius.size(0), nodes.size(0));
    EXPECT_EQ(report.labels.size(0), nodes.size(0));
  }
  EXPECT_THROW(attack(model, data, nodes + 1000, {{}}), ArgumentError);
}

TEST(Library, SearchesWithValidationAndGoesOnAfterAnInterruption) {
  const TemporaryFolder folder;
  const Dataset data = communities(80, 1);
  TrainConfig base;
  base.epochs = 20;
  base.threads = 1;
  const SearchPlan plan = parse_search("lr = [0.001, 0.05]\nfeature-norm = [\"none\"]\n", base);
  const SearchResult whole = search(data, plan);
  ASSERT_EQ(whole.trials.size(), 2u);
  EXPECT_EQ(whole.trials[0].chosen + whole.trials[1].chosen, 1);

  SearchOptions cut;
  cut.folder = folder.path("search");
  int epochs = 0;
  cut.hooks.interrupted = [&] { return ++epochs == 27; };
  EXPECT_THROW(search(data, plan, cut), InterruptedError);
  cut.hooks = {};
  const SearchResult resumed = search(data, plan, cut);
  EXPECT_EQ(resumed.best.lr, whole.best.lr);
  EXPECT_EQ(resumed.trials[1].val, whole.trials[1].val);
  EXPECT_EQ(resumed.runs[0].score.test, whole.runs[0].score.test);
}

TEST(Library, ResumesARunToTheSameWeights) {
  const TemporaryFolder folder;
  const Dataset data = communities(80, 1);
  const TrainedRun whole = train(data, brief());
  int epochs = 0;
  TrainHooks hooks;
  hooks.interrupted = [&] { return ++epochs == 11; };
  const TrainedRun cut = train(data, brief().folder(folder.path("run")).hooks(hooks));
  EXPECT_TRUE(cut.result.interrupted);
  EXPECT_FALSE(cut.model.weights().empty()) << "the best weights so far";
  const TrainedRun rest = train(data, TrainOptions{}.resume(folder.path("run")));
  EXPECT_EQ(rest.result.epochs, whole.result.epochs);
  EXPECT_TRUE(same_weights(rest.model, whole.model));
  EXPECT_THROW(train(data, TrainOptions{}.resume(folder.path("run"))), DataError) << "it is complete";
}

TEST(Library, InspectsDataInMemory) {
  const Dataset data = communities(80, 1);
  const Inspection inspection = inspect(data);
  EXPECT_EQ(inspection.graph.nodes, 80);
  EXPECT_EQ(inspection.graph.components, 2);
  ASSERT_TRUE(inspection.labels);
  EXPECT_EQ(inspection.labels->class_counts, (std::vector<int64_t>{40, 40}));
  EXPECT_NEAR(inspection.spectrum->max, 1, 1e-6);
  EXPECT_EQ(inspection.plan->solver, train(data, brief()).result.solver);
  EXPECT_CONTAINS(to_json(inspection), "\"edge_homophily\": 1.0");
  EXPECT_FALSE(inspect(data.graph).labels) << "a bare graph has none";
}

TEST(Library, WarnsOfSettingsThatHaveNoEffectBesideTheOthers) {
  const Dataset data = communities(40, 1);
  std::vector<std::string> heard;
  const WarningScope scope([&](const std::string& message) { heard.push_back(message); });
  const auto about_effect = [&] {
    return std::count_if(heard.begin(), heard.end(),
                         [](const std::string& message) { return message.rfind("without effect", 0) == 0; });
  };
  train(data, brief());
  EXPECT_EQ(about_effect(), 0);
  train(data, brief().set("width", "9"));
  EXPECT_EQ(about_effect(), 1);
}

}  // namespace
}  // namespace eignn
