// A model that stands alone: used on its data after they were renamed, reordered, extended and labelled, on
// other data, and on one node more.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <numeric>
#include <random>

#include "data/atomic_file.h"
#include "data/safetensors.h"
#include "eignn/error.h"
#include "eignn/new_node.h"
#include "eignn/train.h"
#include "eignn/warning.h"
#include "run/checkpoint.h"
#include "run/predictions_csv.h"
#include "run/restored_run.h"
#include "run/train_run.h"
#include "run/training_nodes.h"
#include "run/training_record.h"
#include "support/message_of.h"
#include "support/oracle.h"
#include "support/temporary_folder.h"

namespace eignn {
namespace {

namespace fs = std::filesystem;

std::vector<int64_t> order_of(int64_t n, uint64_t seed) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(seed);
  for (int64_t k = n - 1; k > 0; --k)
    std::swap(order[static_cast<size_t>(k)], order[random() % static_cast<size_t>(k + 1)]);
  return order;
}

torch::Tensor index_of(const std::vector<int64_t>& nodes) {
  return torch::tensor(nodes, torch::kInt64);
}

// People with an age, an income and a city, who know each other; a third is not labelled.
Dataset town(int64_t nodes = 60, uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<int64_t> from, to;
  for (int64_t a = 0; a < 2 * nodes; ++a) {
    from.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(nodes)));
    to.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(nodes)));
  }
  const auto side = torch::arange(nodes).remainder(2);
  auto X = test::random_matrix(nodes, 3, seed);
  X.select(1, 0).mul_(10).add_(40).add_(20 * side);
  X.select(1, 1).mul_(1e4).add_(3e4);
  X.select(1, 2).copy_(torch::arange(nodes).remainder(3));
  const auto labels = torch::where(torch::arange(nodes).remainder(3) == 2, torch::full({nodes}, -1), side);
  Dataset data = make_dataset(Graph::from_arcs(nodes, from, to), X, labels.to(torch::kInt64), seed);
  data.columns = {{"age", {}}, {"income", {}}, {"city", {"Bonn", "Rome", "Paris, Texas"}}};
  data.class_names = {"no", "yes"};
  for (int64_t v = 0; v < nodes; ++v) data.node_names.push_back("person " + std::to_string(v));
  return data;
}

// The same nodes without names, numbers alone as features.
Dataset numbered(Dataset data) {
  data.columns.clear();
  data.node_names.clear();
  data.class_names.clear();
  data.features = test::random_matrix(data.nodes(), 4, 7) + 1;
  return data;
}

// Node order[k] of `data` becomes node k.
Dataset reordered(const Dataset& data, const std::vector<int64_t>& order) {
  Dataset out = data;
  std::vector<int64_t> place(order.size());
  for (size_t k = 0; k < order.size(); ++k) place[static_cast<size_t>(order[k])] = static_cast<int64_t>(k);
  std::vector<int64_t> from, to;
  for (int64_t v = 0; v < data.nodes(); ++v)
    for (int64_t a = data.graph.row_begin[v]; a < data.graph.row_begin[v + 1]; ++a) {
      from.push_back(place[v]);
      to.push_back(place[data.graph.target[a]]);
    }
  out.graph = Graph::from_arcs(data.nodes(), from, to);
  const auto index = index_of(order);
  out.features = data.features.index_select(0, index);
  out.labels = data.labels.index_select(0, index);
  out.known = data.known.index_select(0, index);
  for (size_t k = 0; !data.node_names.empty() && k < order.size(); ++k)
    out.node_names[k] = data.node_names[static_cast<size_t>(order[k])];
  out.splits.clear();
  return out;
}

Dataset with_columns(const Dataset& data, const std::vector<int64_t>& order) {
  Dataset out = data;
  out.features = data.features.index_select(1, index_of(order));
  for (size_t k = 0; k < order.size(); ++k) out.columns[k] = data.columns[static_cast<size_t>(order[k])];
  return out;
}

// With `more` nodes behind, a chain that no arc joins to the others.
Dataset grown(const Dataset& data, int64_t more) {
  Dataset out = data;
  const int64_t n = data.nodes();
  std::vector<int64_t> from, to;
  for (int64_t v = 0; v < n; ++v)
    for (int64_t a = data.graph.row_begin[v]; a < data.graph.row_begin[v + 1]; ++a) {
      from.push_back(v);
      to.push_back(data.graph.target[a]);
    }
  for (int64_t v = n; v + 1 < n + more; ++v) {
    from.push_back(v);
    to.push_back(v + 1);
  }
  out.graph = Graph::from_arcs(n + more, from, to);
  out.features = torch::cat({data.features, data.features.narrow(0, 0, more)});
  out.labels = torch::cat({data.labels, torch::zeros({more}, torch::kInt64)});
  out.known = out.labels >= 0;
  for (int64_t v = 0; !data.node_names.empty() && v < more; ++v)
    out.node_names.push_back("newcomer " + std::to_string(v));
  out.splits.clear();
  return out;
}

TrainOptions brief(const ModelOptions& model = EignnOptions{}, Precision precision = Precision::float64) {
  TrainOptions options;
  options.model(model).set("epochs", "30").set("patience", "30").set("threads", "1");
  options.config.dtype = precision;
  options.config.feature_norm = FeatureNorm::standard;
  return options;
}

std::vector<ModelOptions> several_models() {
  EignnOptions l2, norm, encoder;
  l2.head = Head::l2;
  norm.head = encoder.head = Head::batch_norm;
  encoder.encoder = 6;
  return {EignnOptions{}, l2, norm, encoder, GcnOptions{}, AppnpOptions{}};
}

TEST(OwnModel, PermutedColumnsGiveTheSameBits) {
  const Dataset data = town();
  for (const Precision precision : {Precision::float32, Precision::float64})
    for (const ModelOptions& options : several_models()) {
      const TrainedModel model = train(data, brief(options, precision)).model;
      const auto before = model.predict(data).scores;
      EXPECT_TRUE(model.predict(with_columns(data, {2, 0, 1})).scores.equal(before)) << name(options);
    }
}

TEST(OwnModel, PermutedRowsAndNodesElsewhereChangeRoundOffAlone) {
  const Dataset data = town();
  const auto order = order_of(data.nodes(), 3);
  for (const Precision precision : {Precision::float32, Precision::float64}) {
    const double tolerance = precision == Precision::float32 ? 1e-5 : 1e-10;
    for (const ModelOptions& options : several_models()) {
      const TrainedModel model = train(data, brief(options, precision)).model;
      const auto before = model.predict(data).scores;
      const auto after = model.predict(reordered(data, order)).scores;
      EXPECT_LE(test::relative_error(after, before.index_select(0, index_of(order))), tolerance)
          << name(options);
      const auto more = model.predict(grown(data, 7)).scores;
      EXPECT_LE(test::relative_error(more.narrow(0, 0, data.nodes()), before), tolerance) << name(options);
    }
  }
}

// The nodes of a part by their names, sorted.
std::vector<std::string> names_of(const Dataset& data, const torch::Tensor& nodes) {
  std::vector<std::string> out;
  for (int64_t k = 0; k < nodes.numel(); ++k) out.push_back(data.node_name(nodes[k].item<int64_t>()));
  std::sort(out.begin(), out.end());
  return out;
}

TEST(OwnModel, RemembersWhoWasInWhichPartWhateverWasAddedSince) {
  const TemporaryFolder folder;
  const Dataset data = town();
  train(data, brief()).model.save(folder.path("m.safetensors"));
  const TrainedModel model = load_model(folder.path("m.safetensors"));
  const auto expect_remembered = [&](const Dataset& now, bool unchanged) {
    const Recognition seen = model.recognise(now);
    EXPECT_TRUE(seen.remembers && seen.training_graph);
    EXPECT_EQ(seen.unchanged, unchanged);
    EXPECT_EQ(seen.nodes_then, data.nodes());
    const Split& then = data.splits[0];
    EXPECT_EQ(names_of(now, seen.split.train), names_of(data, then.train));
    EXPECT_EQ(names_of(now, seen.split.val), names_of(data, then.val));
    EXPECT_EQ(names_of(now, seen.split.test), names_of(data, then.test));
  };
  expect_remembered(data, true);
  expect_remembered(reordered(data, order_of(data.nodes(), 5)), true);
  expect_remembered(reordered(grown(data, 9), order_of(data.nodes() + 9, 5)), false);
  Dataset labelled = data;
  labelled.labels = torch::where(data.known, data.labels, torch::ones_like(data.labels));
  labelled.known = torch::ones_like(data.known);
  expect_remembered(labelled, true);
  Dataset unlabelled = data;
  unlabelled.labels = unlabelled.known = torch::Tensor();
  unlabelled.splits.clear();
  expect_remembered(unlabelled, true);
  Dataset older = data;  // who was a year younger then
  older.features = data.features.clone();
  older.features.select(1, 0).add_(1);
  expect_remembered(older, true);

  Dataset elsewhere = town(80, 2);  // other people, or the same names in another town
  EXPECT_FALSE(model.recognise(elsewhere).training_graph);
  EXPECT_EQ(model.recognise(elsewhere).split.train.numel(), 0);
  for (auto& name : elsewhere.node_names) name += " of Delft";
  EXPECT_FALSE(model.recognise(elsewhere).training_graph);
}

TEST(OwnModel, NumberedNodesAreRecognisedByArcsAndFeatures) {
  const Dataset data = numbered(town());
  TrainOptions options = brief();
  options.config.feature_norm = FeatureNorm::none;
  const TrainedModel model = train(data, options).model;
  const Recognition more = model.recognise(grown(data, 9));
  EXPECT_TRUE(more.training_graph);
  EXPECT_TRUE(more.split.train.equal(std::get<0>(data.splits[0].train.sort())));
  EXPECT_TRUE(model.recognise(data).unchanged);
  EXPECT_FALSE(model.recognise(reordered(data, order_of(data.nodes(), 5))).training_graph)
      << "numbers say nothing when the nodes are numbered anew";
  Dataset others = data;
  others.features = data.features + 1;
  EXPECT_FALSE(model.recognise(others).training_graph) << "the same arcs between other nodes";
  Dataset unrelated = numbered(town(60, 2));
  unrelated.features = data.features;
  EXPECT_FALSE(model.recognise(unrelated).training_graph) << "the same features, other arcs";
}

TEST(OwnModel, LongerChainsAreAnotherGraph) {
  TrainConfig config;
  config.chain_length = 20;
  config.chains_per_class = 5;
  config.epochs = 3;
  config.threads = 1;
  const TemporaryFolder folder;
  train(config, folder.path("run"));
  const RestoredRun same = restore_run(folder.path("run"), {});
  EXPECT_TRUE(same.recognised.unchanged);
  EXPECT_EQ(same.split.train.numel(), same.data.splits[0].train.numel());
  EXPECT_EQ(same.parts().size(), 3u);
  const RestoredRun longer = restore_run(folder.path("run"), {{"chain-length", "80"}});
  EXPECT_FALSE(longer.recognised.training_graph);
  ASSERT_EQ(longer.parts().size(), 1u) << "nobody was trained on";
  EXPECT_EQ(longer.parts()[0].nodes.numel(), 80 * 10);
  const RestoredRun split = restore_run(folder.path("run"), {{"chain-length", "80"}, {"split", "0"}});
  EXPECT_EQ(split.parts().size(), 3u) << "the data's own split, when it is asked for";
}

TEST(OwnModel, ColumnsAreMatchedByNameAndMissingOrSurplusOnesAreNamed) {
  const Dataset data = town();
  const TrainedModel model = train(data, brief()).model;
  EXPECT_CONTAINS(message_of<DataError>([&] {
                    Dataset fewer = with_columns(data, {0, 2, 1});
                    fewer.columns.pop_back();
                    fewer.features = fewer.features.narrow(1, 0, 2);
                    model.predict(fewer);
                  }),
                  "income");
  EXPECT_CONTAINS(
      message_of<DataError>([&] {
        Dataset more = data;
        more.columns.push_back({"shoe size", {}});
        more.features = torch::cat({data.features, torch::ones({data.nodes(), 1}, torch::kFloat64)}, 1);
        model.predict(more);
      }),
      "shoe size");
  // Nobody from Paris has a label, so nobody from there is in training.
  EXPECT_EQ(model.feature_names(), (std::vector<std::string>{"age", "income", "city = Bonn", "city = Rome"}));
}

TEST(OwnModel, ClassesAreMatchedByName) {
  const Dataset data = town();
  const TrainedModel model = train(data, brief()).model;
  EXPECT_EQ(model.class_names(), data.class_names);
  Dataset turned = data;
  turned.class_names = {"yes", "no"};
  turned.labels = torch::where(data.known, 1 - data.labels, data.labels);
  const auto& nodes = data.splits[0].test;
  EXPECT_EQ(model.evaluate(turned, nodes).score, model.evaluate(data, nodes).score);
  EXPECT_EQ(model.evaluate(turned, nodes).loss, model.evaluate(data, nodes).loss);
  Dataset other = data;
  other.class_names = {"no", "maybe"};
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { model.evaluate(other, nodes); }), "'maybe'");
  EXPECT_TRUE(model.predict(other).scores.equal(model.predict(data).scores)) << "prediction needs no labels";
}

TEST(OwnModel, PredictsOneNodeMoreAsIfItHadBeenInTheData) {
  const Dataset data = town();
  const TrainedModel model = train(data, brief()).model;
  const NewNode ada{
      "Ada", {{"city", "Rome"}, {"age", "33"}, {"income", "2e4"}}, {{"person 3"}, {"person 8"}}};
  const Dataset more = with_node(data, ada);
  check(more.graph);
  ASSERT_EQ(more.nodes(), data.nodes() + 1);
  EXPECT_EQ(more.node_names.back(), "Ada");
  const int64_t last = data.nodes();

  Dataset by_hand = grown(data, 1);
  by_hand.features[last][0] = 33;
  by_hand.features[last][1] = 2e4;
  by_hand.features[last][2] = 1;
  std::vector<int64_t> from, to;
  for (int64_t v = 0; v < by_hand.nodes(); ++v)
    for (int64_t a = by_hand.graph.row_begin[v]; a < by_hand.graph.row_begin[v + 1]; ++a) {
      from.push_back(v);
      to.push_back(by_hand.graph.target[a]);
    }
  from.insert(from.end(), {last, 3, last, 8});
  to.insert(to.end(), {3, last, 8, last});
  by_hand.graph = Graph::from_arcs(by_hand.nodes(), from, to);
  EXPECT_EQ(more.graph.row_begin, by_hand.graph.row_begin);
  EXPECT_EQ(more.graph.target, by_hand.graph.target);
  EXPECT_LE(test::relative_error(model.predict(more).scores, model.predict(by_hand).scores), 1e-10);
  EXPECT_TRUE(model.recognise(more).training_graph);

  const Dataset elsewhere = with_node(data, {"Eve", {{"age", "33"}, {"income", "1"}, {"city", "Oslo"}}, {}});
  EXPECT_EQ(elsewhere.columns[2].words.back(), "Oslo");
  EXPECT_EQ(model.predict(elsewhere).scores.size(0), last + 1) << "a word that nobody had is in no column";
}

TEST(OwnModel, ReadsANewNodeFromALine) {
  Dataset data = town();
  data.columns[1].name = "income=net";
  data.node_names[4] = "O'Neil, Bob";
  data.node_names[5] = "a:b";
  const NewNode node =
      parse_node(data, "age= 33 ,income=net=2e4,city=\"Paris, Texas\"", "\"O'Neil, Bob\",a:b, person 7:2.5");
  ASSERT_EQ(node.features.size(), 3u);
  EXPECT_EQ(node.features[0].text, "33");
  EXPECT_EQ(node.features[1].column, "income=net");
  EXPECT_EQ(node.features[2].text, "Paris, Texas");
  ASSERT_EQ(node.neighbours.size(), 3u);
  EXPECT_EQ(node.neighbours[0].node, "O'Neil, Bob");
  EXPECT_EQ(node.neighbours[1].node, "a:b");
  EXPECT_EQ(node.neighbours[2].node, "person 7");
  EXPECT_EQ(node.neighbours[2].weight, 2.5);
  const NewNode plain = parse_node(numbered(data), "1,2,3,4", "0,7");
  EXPECT_EQ(plain.features[2].column, "2");
  EXPECT_EQ(plain.features[2].text, "3");

  const auto refused = [&](const char* field, const std::string& features, const std::string& neighbours,
                           const char* says) {
    try {
      with_node(data, parse_node(data, features, neighbours));
      ADD_FAILURE() << features << " | " << neighbours;
    } catch (const ArgumentError& error) {
      EXPECT_EQ(error.field(), field) << error.what();
      EXPECT_CONTAINS(std::string(error.what()), says);
    }
  };
  const std::string whole = "age=33,income=net=1,city=Rome";
  refused("node", "age=33,city=Rome", "", "'income=net' is missing");
  refused("node", "age=33,income=net=1,city=Rome,size=3", "", "'size'");
  refused("node", "age=33,income=net=lots,city=Rome", "", "'lots'");
  refused("node", "age=33,age=34,income=net=1,city=Rome", "", "twice");
  refused("node", "age=33,income=net=1,city=\"Rome", "", "quote");
  refused("node", "33,1,Rome", "", "'33' is no feature");
  refused("neighbours", whole, "person 3,nobody", "'nobody'");
  refused("neighbours", whole, "person 3:heavy", "'heavy'");
  refused("neighbours", whole, "person 3:2", "has a weight");
  refused("neighbours", whole, "person 3:-1", "-1");
  refused("neighbours", whole, "person 3,person 3", "twice");
}

// ---- folders and files

std::string train_on_files(const TemporaryFolder& folder, const std::string& name, const Dataset& data) {
  fs::create_directories(folder.path(name));
  std::string edges = "source,target\n", features = "id,a,b,c\n", labels = "id,class\n";
  for (int64_t v = 0; v < data.nodes(); ++v) {
    for (int64_t a = data.graph.row_begin[v]; a < data.graph.row_begin[v + 1]; ++a)
      edges += std::to_string(v) + "," + std::to_string(data.graph.target[a]) + "\n";
    features += std::to_string(v);
    for (int64_t k = 0; k < 3; ++k) features += "," + std::to_string(data.features[v][k].item<double>());
    features += "\n";
    if (data.known[v].item<bool>())
      labels += std::to_string(v) + "," + std::to_string(data.labels[v].item<int64_t>()) + "\n";
  }
  folder.write(name + "/edges.csv", edges);
  folder.write(name + "/features.csv", features);
  folder.write(name + "/labels.csv", labels);
  TrainConfig config = brief().config;
  config.dataset = folder.path(name);
  config.feature_norm = FeatureNorm::none;
  train(config, folder.path("run"));
  return folder.path("run");
}

TEST(OwnModel, ItsDataMayBeRenamedAndItsFolderMoved) {
  const TemporaryFolder folder;
  const std::string run = train_on_files(folder, "data", numbered(town()));
  const auto all = torch::arange(60);
  const auto before = restore_run(run, {}).predictions(all);
  fs::rename(folder.path("data"), folder.path("renamed"));
  fs::create_directories(folder.path("another/machine"));
  fs::rename(run + "/model.safetensors", folder.path("another/machine/m.safetensors"));
  const std::string moved = folder.path("another/machine/m.safetensors");
  const RestoredRun restored = restore_run(moved, {{"dataset", folder.path("renamed")}});
  EXPECT_TRUE(restored.predictions(all).scores.equal(before.scores));
  EXPECT_TRUE(restored.recognised.unchanged);
  EXPECT_EQ(restored.which_graph(), "the graph of the training");
  try {
    restore_run(moved, {});
    ADD_FAILURE() << "the data are not there any more";
  } catch (const ArgumentError& error) {
    EXPECT_EQ(error.field(), "dataset");
  }
}

// People with a remark, all different, and a job, one of eighty; `rows` of them, with `more` jobs that are
// new.
void write_people(const TemporaryFolder& folder, const std::string& name, int rows, bool new_jobs = false) {
  std::string nodes = "id,label,age,remark,job,split\n", edges = "source,target\n";
  const auto person = [](int k) { return "p" + std::to_string(k); };
  for (int k = 0; k < rows; ++k) {
    const int job = new_jobs && k >= 240 ? k : k % 80;
    nodes += person(k) + (k % 2 == 0 ? ",no," : ",yes,") + std::to_string(30 + 10 * (k % 2) + k % 7) +
             ",remark " + std::to_string(k) + ",job " + std::to_string(job) +
             (k % 4 < 2    ? ",train"
              : k % 4 == 2 ? ",val"
                           : ",test") +
             "\n";
    if (k + 2 < rows) edges += person(k) + "," + person(k + 2) + "\n";
  }
  folder.write(name + "/nodes.csv", nodes);
  folder.write(name + "/edges.csv", edges);
}

TEST(OwnModel, ReadsTheColumnsOfEveryTableAsThoseOfItsTraining) {
  const TemporaryFolder folder;
  for (const char* name : {"all", "sixty", "one", "more"}) fs::create_directories(folder.path(name));
  write_people(folder, "all", 240);
  write_people(folder, "sixty", 60);
  write_people(folder, "one", 1);
  write_people(folder, "more", 700, /*new_jobs=*/true);
  TrainConfig config = brief().config;
  config.dataset = folder.path("all");
  config.epochs = 5;
  const std::string run = folder.path("run");
  train(config, run);
  const TrainedModel model = load_model(run);
  for (const auto& [name, rows] : {std::pair{"sixty", 60}, {"one", 1}, {"more", 700}}) {
    const RestoredRun restored = restore_run(run, {{"dataset", folder.path(name)}});
    EXPECT_EQ(restored.data.columns.size(), 2u) << name << ": the remark is not used";
    const auto scores = restored.predictions(torch::arange(rows)).scores;
    EXPECT_TRUE(torch::isfinite(scores).all().item<bool>()) << name;
    const Dataset data = load_dataset(folder.path(name), {}, 0, {}, model.tables());
    EXPECT_TRUE(model.predict(data).scores.equal(scores)) << name;
  }
  // A job that no training node had is one of the others.
  const RestoredRun more = restore_run(run, {{"dataset", folder.path("more")}});
  const auto names = model.feature_names();
  const auto other = std::find(names.begin(), names.end(), "job (other)") - names.begin();
  ASSERT_LT(other, static_cast<int64_t>(names.size()));
  EXPECT_EQ(more.dataset.features[650][other].item<double>(), 1);
}

TEST(OwnModel, ACheckpointNamesNobodyAndIsSmall) {
  const TemporaryFolder folder;
  const Dataset data = town();
  train(data, brief()).model.save(folder.path("m.safetensors"));
  EXPECT_EQ(read_whole_file(folder.path("m.safetensors")).find("person 1"), std::string::npos);

  Dataset large;
  large.graph = chain_graph(1, 1'000'000);
  large.features = torch::ones({1'000'000, 1}, torch::kFloat64);
  const auto nodes = torch::arange(1'000'000);
  const Split split{nodes.narrow(0, 0, 600'000), nodes.narrow(0, 600'000, 200'000),
                    nodes.narrow(0, 800'000, 200'000)};
  SafeTensors content;
  TrainingNodes::of(large, split, true).save(content);
  size_t bytes = 0;
  for (const auto& [name, tensor] : content.tensors) bytes += tensor.bytes.size();
  EXPECT_LT(bytes, 270'000u);
  const auto again = TrainingNodes::load(content, "m");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->counts(), (std::array<int64_t, 3>{600'000, 200'000, 200'000}));
  EXPECT_TRUE(again->recognise(large).split.val.equal(split.val));
}

// Nodes to write about, in a row, with the label of the first two known.
Dataset people(int64_t nodes) {
  Dataset data;
  data.graph = chain_graph(1, nodes);
  data.features = torch::ones({nodes, 1}, torch::kFloat64);
  for (int64_t v = 0; v < nodes; ++v) data.node_names.push_back("person " + std::to_string(v));
  data.labels = torch::arange(nodes).remainder(2);
  data.known = torch::arange(nodes) < 2;
  data.classes = 2;
  return data;
}

TEST(OwnModel, PredictionsHaveNamesAndTheLikeliestClassesFirst) {
  const TemporaryFolder folder;
  Dataset data = people(6);
  data.node_names[1] = "Bob, junior";
  data.class_names = {"no", "yes", "may\"be"};
  data.classes = 3;
  Predictions p;
  p.probabilities =
      torch::tensor({0.5, 0.2, 0.3, 0.1, 0.2, 0.7}, torch::kFloat64).view({2, 3}).repeat({3, 1});
  p.classes = p.probabilities.argmax(1);
  const Split nobody{torch::tensor({0}), torch::tensor({1}), torch::empty({0}, torch::kInt64)};
  const auto csv = [&](const PredictionColumns& columns) {
    write_predictions_csv(folder.path("p.csv"), data, nobody, p, data.class_names, columns);
    return read_whole_file(folder.path("p.csv"));
  };
  EXPECT_CONTAINS(
      csv({}), "node,split,label,predicted,p_no,p_yes,\"p_may\"\"be\"\nperson 0,train,no,no,0.5,0.2,0.3\n");
  EXPECT_CONTAINS(csv({}), "\n\"Bob, junior\",val,yes,\"may\"\"be\",0.1,0.2,0.7\nperson 2,none,,no,");
  EXPECT_CONTAINS(
      csv({false, 2}),
      "node,split,label,predicted,top1,top1_p,top2,top2_p\nperson 0,train,no,no,no,0.5,\"may\"\"be\",0.3\n");
  EXPECT_CONTAINS(csv({true, 9}), "top3,top3_p,p_no");
}

TEST(OwnModel, NumbersArePredictedInTheirUnits) {
  const TemporaryFolder folder;
  auto record = std::make_shared<TrainingRecord>();
  record->task = Task::regression;
  record->target = {{100, 5}, {10, 2}};
  record->class_names = {"rent", "size, m2"};
  const TrainedModel model({}, 3, 2, false, {{"w", torch::ones({1})}}, record);
  model.save(folder.path("m.safetensors"));
  const TrainedModel again = load_model(folder.path("m.safetensors"));
  EXPECT_TRUE(again.is_regression());
  const auto p = predictions_of(again, torch::tensor({1.0, -1.0, 0.0, 0.5}).view({2, 2}));
  EXPECT_TRUE(p.values.allclose(torch::tensor({110.0, 3.0, 100.0, 6.0}, torch::kFloat64).view({2, 2})));
  EXPECT_FALSE(p.probabilities.defined());
  Dataset data = people(2);
  data.labels = torch::tensor({90.5, 4.0, std::nan(""), std::nan("")}, torch::kFloat64).view({2, 2});
  data.known = torch::tensor({true, false});
  const auto none = torch::empty({0}, torch::kInt64);
  write_predictions_csv(folder.path("p.csv"), data, {none, none, none}, p, again.class_names());
  EXPECT_EQ(read_whole_file(folder.path("p.csv")),
            "node,split,label_rent,\"label_size, m2\",predicted_rent,\"predicted_size, m2\"\n"
            "person 0,none,90.5,4,110,3\nperson 1,none,,,100,6\n");
}

TEST(OwnModel, AnInterruptedRunCanBeUsedAndLengthened) {
  const TemporaryFolder folder;
  const Dataset data = town();
  const TrainedRun whole = train(data, brief().set("epochs", "60").set("patience", "60"));
  int epochs = 0;
  TrainHooks hooks;
  hooks.interrupted = [&] { return ++epochs == 11; };
  const TrainedRun cut = train(data, brief().folder(folder.path("run")).hooks(hooks).set("patience", "60"));
  std::string said;
  {
    const WarningScope scope([&](const std::string& line) { said += line; });
    const TrainedModel best = load_model(folder.path("run"));
    EXPECT_TRUE(best.predict(data).scores.equal(cut.model.predict(data).scores));
    EXPECT_EQ(best.class_names(), data.class_names);
    EXPECT_TRUE(best.recognise(data).unchanged);
  }
  EXPECT_CONTAINS(said, "is not finished: these are its best weights so far");
  EXPECT_CONTAINS(
      message_of<ArgumentError>([&] { train(data, TrainOptions{}.resume(folder.path("run"), 5)); }),
      "(epochs)");
  const TrainedRun longer = train(data, TrainOptions{}.resume(folder.path("run"), 60));
  EXPECT_EQ(longer.result.epochs, 60);
  EXPECT_EQ(longer.result.config.epochs, 60);
  EXPECT_TRUE(longer.model.predict(data).scores.equal(whole.model.predict(data).scores));
  EXPECT_CONTAINS(read_whole_file(folder.path("run/config.toml")), "epochs = 60");
}

TEST(OwnModel, WhatIsRecordedIsSealedAndChecked) {
  const TemporaryFolder folder;
  const std::string path = folder.path("m.safetensors");
  train(town(), brief()).model.save(path);
  const SafeTensors good = read_safetensors(path);
  const auto refused = [&](bool sealed, const std::function<void(SafeTensors&)>& damage) {
    SafeTensors bad = good;
    damage(bad);
    if (sealed) seal(bad);
    write_safetensors(path, bad);
    return message_of<DataError>([&] { load_model(path); });
  };
  for (const char* key : {"class_names", "features.transform", "task", "training.nodes", "training.digest"})
    refused(false, [&](SafeTensors& file) { file.metadata[key] += " "; });
  refused(false, [](SafeTensors& file) { file.tensors["training.train"].bytes[0] ^= 1; });
  EXPECT_CONTAINS(refused(true, [](SafeTensors& file) { file.metadata["class_names"] = "no, yes"; }),
                  "class_names");
  EXPECT_CONTAINS(refused(true, [](SafeTensors& file) { file.metadata["task"] = "guess"; }), "task");
  EXPECT_CONTAINS(refused(true, [](SafeTensors& file) { file.metadata["class_names"] = "[\"no\"]"; }),
                  "class_names");
  refused(true, [](SafeTensors& file) { file.metadata["features.transform"] = "{}"; });
  refused(true, [](SafeTensors& file) { file.metadata.erase("training.digest"); });
  refused(true, [](SafeTensors& file) { file.metadata["training.nodes"] = "-3"; });
  refused(true, [](SafeTensors& file) { file.tensors.erase("training.train"); });
  refused(true, [](SafeTensors& file) { file.metadata.erase("config.encoder-activation"); });
  write_safetensors(path, good);
  load_model(path);
}

}  // namespace
}  // namespace eignn
