// Trainings with labels as inputs: what they read, what they never read, and what a checkpoint keeps.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "data/atomic_file.h"
#include "data/safetensors.h"
#include "eignn/attack.h"
#include "eignn/error.h"
#include "eignn/explain.h"
#include "eignn/train.h"
#include "eignn/warning.h"
#include "run/batched_training.h"
#include "run/checkpoint.h"
#include "run/train_run.h"
#include "support/message_of.h"
#include "support/oracle.h"
#include "support/temporary_folder.h"
#include "train/known_labels.h"
#include "train/trainer.h"

namespace eignn {
namespace {

enum class Labels { classes, sets, numbers };

// Rings in which all nodes are of one class; features are noise. Half of the nodes of each ring are for
// training.
Dataset rings(int64_t count = 12, int64_t length = 10, Labels kind = Labels::classes) {
  const int64_t n = count * length;
  std::vector<int64_t> from, to, label, train, val, test;
  for (int64_t v = 0; v < n; ++v) {
    const int64_t ring = v / length;
    from.push_back(v);
    to.push_back(ring * length + (v + 1) % length);
    label.push_back((ring / 2 + ring) % 3);
    (v % 2 == 0 ? train : v % 4 == 1 ? val : test).push_back(v);
  }
  Dataset data;
  data.name = "rings";
  data.graph = Graph::from_arcs(n, from, to);
  data.features = test::random_matrix(n, 4, 5);
  data.labels = torch::tensor(label, torch::kInt64);
  data.classes = 3;
  if (kind == Labels::sets) {
    const auto y = data.labels;
    data.labels = torch::stack({y.eq(0), y.ne(2)}, 1).to(torch::kUInt8);
    data.classes = 2;
  } else if (kind == Labels::numbers) {
    data.labels = (100 + 7 * data.labels.to(torch::kFloat64)).unsqueeze(1);
    data.classes = 1;
  } else {
    data.class_names = {"left", "middle", "right"};
  }
  data.known = torch::ones({n}, torch::kBool);
  data.splits.push_back({torch::tensor(train, torch::kInt64), torch::tensor(val, torch::kInt64),
                         torch::tensor(test, torch::kInt64)});
  for (int64_t v = 0; v < n; ++v) data.node_names.push_back("node " + std::to_string(v));
  return data;
}

// One layer with a norm behind a linear encoder, or a stack of two.
TrainConfig with_labels(bool stack, int64_t epochs = 60) {
  TrainConfig config;
  EignnOptions options;
  options.label_inputs = true;
  options.encoder = 8;
  options.norm = stack ? Norm::layer : Norm::l2;
  options.layers = stack ? 2 : 1;
  options.hidden = 8;
  options.dropout = 0.2;
  options.gamma = 0.9;
  config.model = options;
  config.lr = 0.03;
  config.threads = 1;
  config.epochs = config.patience = epochs;
  config.weight_decay = 0;
  return config;
}

torch::Tensor all_scores(Model& model) {
  const torch::NoGradGuard guard;
  model.eval();
  return model.scores(torch::arange(model.nodes())).clone();
}

// The labels of these nodes, replaced by those of other nodes.
Dataset with_changed_labels(Dataset data, const torch::Tensor& nodes) {
  const auto changed = data.labels.roll({11}, {0});
  data.labels = data.labels.index_copy(0, nodes, changed.index_select(0, nodes));
  return data;
}

std::string without_times(const std::string& folder) {
  std::ifstream file(folder + "/metrics.jsonl");
  std::string out;
  for (std::string line; std::getline(file, line);) {
    auto json = nlohmann::json::parse(line);
    json.erase("seconds");
    out += json.dump() + "\n";
  }
  return out;
}

TEST(LabelInputsInTraining, TellWhatFeaturesDoNot) {
  for (const bool stack : {false, true}) {
    TrainConfig config = with_labels(stack, 200);
    if (!stack) {  // the paper's head, which is linear in the labels
      config.eignn().norm = Norm::none;
      config.eignn().intercept = true;
    }
    config.class_weights = ClassWeights::balanced;
    config.conformal = 0.2;
    Dataset data = rings(24);
    data.features = torch::ones({data.nodes(), 1}, torch::kFloat64);
    const RunResult with = train(config, {}, false, {}, &data);
    EXPECT_GE(with.score.test, 0.9) << stack;
    EXPECT_GE(with.score.train, 0.8) << "half of the others' labels tell them, their own are not needed";
    config.eignn().label_inputs = false;
    EXPECT_LE(train(config, {}, false, {}, &data).score.test, 0.5) << stack;
  }
}

TEST(LabelInputsInTraining, ReadNoLabelOfValidationOrTest) {
  for (const Labels kind : {Labels::classes, Labels::sets, Labels::numbers})
    for (const bool stack : {false, true}) {
      const Dataset data = rings(12, 10, kind);
      const Split& split = data.splits[0];
      const Dataset other = with_changed_labels(data, torch::cat({split.val, split.test}));
      ASSERT_FALSE(other.labels.equal(data.labels));
      const TrainConfig config = with_labels(stack);
      Trainer a(config, data, 0, nullptr), b(config, other, 0, nullptr);
      for (int64_t epoch = 0; epoch < 5; ++epoch) {
        EXPECT_EQ(a.step(epoch), b.step(epoch));
        a.evaluate(a.split().val);
        b.evaluate(b.split().val);
      }
      EXPECT_TRUE(all_scores(a.model()).equal(all_scores(b.model())));
    }
}

TEST(LabelInputsInTraining, ScoreNoTrainingNodeWithItsOwnLabel) {
  for (const Labels kind : {Labels::classes, Labels::sets, Labels::numbers})
    for (const bool stack : {false, true}) {
      const Dataset data = rings(12, 10, kind);
      const TrainConfig config = with_labels(stack);
      Trainer trainer(config, data, 0, nullptr);
      for (int64_t epoch = 0; epoch < 3; ++epoch) trainer.step(epoch);
      const auto before = all_scores(trainer.model());
      const auto v = data.splits[0].train.narrow(0, 6, 1);
      Trainer other(config, with_changed_labels(data, v), 0, nullptr);
      load_state(other.model(), state_of(trainer.model()), "a trainer");
      auto inputs = other.known_labels()->inputs(data.classes, trainer.judge().targets);
      other.model().use_labels(inputs);
      const auto change = (all_scores(other.model()) - before).abs().amax(1);
      EXPECT_EQ(change[v.item<int64_t>()].item<float>(), 0);
      EXPECT_GT(change.max().item<float>(), 0);
    }
}

TEST(LabelInputsInTraining, AnEpochShowsAHalfAndScoresTheOther) {
  for (const int64_t k : {2, 7, 60}) {
    const auto first = halves_of_epoch(k, 3, 0), again = halves_of_epoch(k, 3, 0),
               next = halves_of_epoch(k, 3, 1);
    EXPECT_EQ(first.shown.numel(), k / 2);
    const auto both = std::get<0>(torch::cat({first.shown, first.scored}).sort());
    EXPECT_TRUE(both.equal(torch::arange(k)));
    EXPECT_TRUE(first.shown.equal(again.shown));
    if (k == 60) {
      EXPECT_FALSE(std::get<0>(first.shown.sort()).equal(std::get<0>(next.shown.sort())));
    }
  }
  const Dataset data = rings();
  const auto known = KnownLabels::of(data, data.splits[0].train, 0);
  EXPECT_EQ(known.half.sum().item<int64_t>(), known.half.numel() / 2);
}

TEST(LabelInputsInTraining, ResumedIsIdenticalToUninterrupted) {
  const TemporaryFolder folder;
  const Dataset data = rings();
  for (const bool stack : {false, true}) {
    const TrainConfig config = with_labels(stack, 20);
    const std::string whole = folder.path(stack ? "whole-stack" : "whole"),
                      parts = folder.path(stack ? "parts-stack" : "parts");
    train(config, whole, false, {}, &data);
    int64_t epochs = 0;
    TrainHooks stop_soon;
    stop_soon.on_epoch = [&](const EpochReport&) { ++epochs; };
    stop_soon.interrupted = [&] { return epochs == 7; };
    EXPECT_TRUE(train(config, parts, false, stop_soon, &data).interrupted);
    EXPECT_NO_THROW(load_model(parts).predict(data)) << "its best weights so far, and the labels";
    train({}, parts, /*resume=*/true, {}, &data);
    EXPECT_EQ(read_whole_file(whole + "/model.safetensors"), read_whole_file(parts + "/model.safetensors"));
    EXPECT_EQ(without_times(whole), without_times(parts));
    EXPECT_EQ(read_whole_file(whole + "/predictions.csv"), read_whole_file(parts + "/predictions.csv"));
  }
}

// Node order[k] of `data` becomes node k, and what the labels are is forgotten.
Dataset unlabelled_in_order(const Dataset& data, const std::vector<int64_t>& order) {
  Dataset out = data;
  std::vector<int64_t> place(order.size()), from, to;
  for (size_t k = 0; k < order.size(); ++k) place[static_cast<size_t>(order[k])] = static_cast<int64_t>(k);
  for (int64_t v = 0; v < data.nodes(); ++v)
    for (int64_t a = data.graph.row_begin[v]; a < data.graph.row_begin[v + 1]; ++a) {
      from.push_back(place[v]);
      to.push_back(place[data.graph.target[a]]);
    }
  out.graph = Graph::from_arcs(data.nodes(), from, to);
  out.features = data.features.index_select(0, torch::tensor(order, torch::kInt64));
  for (size_t k = 0; k < order.size() && !data.node_names.empty(); ++k)
    out.node_names[k] = data.node_names[static_cast<size_t>(order[k])];
  out.labels = out.known = torch::Tensor();
  out.splits.clear();
  return out;
}

TEST(LabelInputsInACheckpoint, AreThoseOfTheTrainingNodes) {
  const TemporaryFolder folder;
  for (const Labels kind : {Labels::classes, Labels::sets, Labels::numbers})
    for (const bool named : {true, false}) {
      Dataset data = rings(12, 10, kind);
      if (!named) data.node_names.clear();
      TrainOptions options;
      options.config = with_labels(kind == Labels::sets, 15);
      options.config.dtype = Precision::float64;
      const TrainedRun run = train(data, options);
      const std::string path =
          folder.path("m" + std::to_string(static_cast<int>(kind)) + std::to_string(named));
      run.model.save(path);
      const TrainedModel model = load_model(path);
      const auto then = run.model.predict(data).scores;
      EXPECT_TRUE(model.predict(data).scores.equal(then));
      Trainer trainer(options.config, data, 0, nullptr);
      load_state(trainer.model(), model.weights(), "the model");
      EXPECT_LE(test::relative_error(all_scores(trainer.model()), then), 1e-10)
          << "as the training scored them";
      EXPECT_EQ(model.evaluate(data, data.splits[0].train).score, run.result.score.train);

      // What the data say of labels later is not read: none are known, or others.
      std::vector<int64_t> order(static_cast<size_t>(data.nodes()));
      for (size_t k = 0; k < order.size(); ++k)
        order[k] = named ? static_cast<int64_t>((7 * k + 3) % order.size()) : static_cast<int64_t>(k);
      const auto index = torch::tensor(order, torch::kInt64);
      EXPECT_LE(test::relative_error(model.predict(unlabelled_in_order(data, order)).scores,
                                     then.index_select(0, index)),
                1e-10);
      EXPECT_TRUE(model.predict(with_changed_labels(data, torch::arange(data.nodes()))).scores.equal(then));
    }
}

TEST(LabelInputsInACheckpoint, AreNotForAnotherGraph) {
  const Dataset data = rings();
  TrainOptions options;
  options.config = with_labels(false, 10);
  const TrainedModel model = train(data, options).model;
  Dataset elsewhere = rings(7, 9);
  for (auto& name : elsewhere.node_names) name += " elsewhere";
  std::vector<std::string> said;
  torch::Tensor scores;
  {
    const WarningScope scope([&](const std::string& text) { said.push_back(text); });
    scores = model.predict(elsewhere).scores;
    model.predict(data);
  }
  ASSERT_EQ(said.size(), 1u);
  EXPECT_CONTAINS(said[0], "no label is input");
  const auto bare = make_model(elsewhere, options.config, nullptr);
  load_state(*bare, model.weights(), "the model");
  EXPECT_LE(test::relative_error(all_scores(*bare), scores), 1e-5);
}

TEST(LabelInputsInACheckpoint, ThatAreDamagedAreRefused) {
  const TemporaryFolder folder;
  TrainOptions options;
  options.config = with_labels(false, 3);
  const Dataset data = rings();
  train(data, options).model.save(folder.path("m"));
  const auto damaged = [&](const std::string& name, auto change) {
    SafeTensors content = read_safetensors(folder.path("m"));
    change(content.tensors.at(name));
    seal(content);
    write_safetensors(folder.path("damaged"), content);
    return message_of<DataError>([&] { load_model(folder.path("damaged")).predict(data); });
  };
  EXPECT_CONTAINS(damaged("training.labels", [](TensorBytes& t) { t.bytes[0] = 9; }), "training.labels");
  EXPECT_CONTAINS(damaged("training.label_halves", [](TensorBytes& t) { t.bytes[5] = 2; }),
                  "training.label_halves");
  EXPECT_CONTAINS(damaged("training.label_halves",
                          [](TensorBytes& t) {
                            t.bytes.pop_back();
                            --t.shape[0];
                          }),
                  "training.label_halves");
}

// ---- explanations and attacks

TEST(LabelInputsExplained, ContributionsOfFeaturesAndLabelsAddUpToTheScore) {
  const Dataset data = rings();
  TrainOptions options;
  options.config = with_labels(false, 30);
  options.config.dtype = Precision::float64;
  options.config.eignn().norm = Norm::batch;
  options.config.eignn().gamma = 0.8;
  const TrainedModel model = train(data, options).model;
  for (const int64_t node : {3, 4}) {  // one to test, one that was trained on
    const Explanation why = explain(model, data, node);
    EXPECT_TRUE(why.exact);
    EXPECT_NEAR(why.score, model.predict(data).scores[node][why.class_number].item<double>(), 1e-9);
    EXPECT_NEAR(why.remainder, 0, 1e-9);
    EXPECT_NEAR(why.features_remainder, 0, 1e-9);
    double of_labels = 0;
    for (const FeatureContribution& part : why.features)
      if (part.feature >= data.feature_count()) {
        EXPECT_EQ(data.feature_name(part.feature).rfind("label ", 0), 0u);
        of_labels += std::abs(part.contribution);
      }
    EXPECT_GT(of_labels, 0) << node;
    // Without its features the node itself says nothing: its own label is no input.
    Dataset silent = data;
    silent.features = data.features.clone();
    silent.features[node].zero_();
    const auto bound = model.on(data);
    bound->use_features(silent.features);
    const double own = why.score - bound->scores(torch::tensor({node}))[0][why.class_number].item<double>();
    for (const NodeContribution& part : why.nodes)
      if (part.node == node) {
        EXPECT_NEAR(part.contribution, own, 1e-9) << node;
      }
  }
  EXPECT_EQ(influence(model, data, {20, 0}).sample, 20);
  const EdgeExplanation edges = explain_edges(model, data, 3, {}, {2, 0});
  ASSERT_FALSE(edges.changes.empty());
  EXPECT_NEAR(edges.score, explain(model, data, 3).score, 1e-9);
  Dataset without = data;
  std::vector<int64_t> from, to;
  for (int64_t v = 0; v < data.nodes(); ++v)
    for (int64_t a = data.graph.row_begin[v]; a < data.graph.row_begin[v + 1]; ++a)
      if (std::minmax<int64_t>(v, data.graph.target[a]) !=
          std::minmax(edges.changes[0].source, edges.changes[0].target)) {
        from.push_back(v);
        to.push_back(data.graph.target[a]);
      }
  without.graph = Graph::from_arcs(data.nodes(), from, to);
  ASSERT_TRUE(edges.changes[0].change);
  EXPECT_NEAR(model.predict(without).scores[3][edges.class_number].item<double>() - edges.score,
              *edges.changes[0].change, 1e-8);
}

TEST(LabelInputsExplained, AStackHasItsLabelsInTheConstant) {
  const Dataset data = rings();
  TrainOptions options;
  options.config = with_labels(true, 10);
  options.config.dtype = Precision::float64;
  const TrainedModel model = train(data, options).model;
  const auto bound = model.on(data);
  for (const int64_t node : {3, 4}) {
    const Explanation why = explain(model, data, node);
    EXPECT_EQ(why.kind, ContributionKind::first_order);
    bound->use_features(torch::zeros_like(data.features));
    EXPECT_NEAR(why.constant, bound->scores(torch::tensor({node}))[0][why.class_number].item<double>(), 1e-9);
  }
}

TEST(LabelInputsAttacked, TheCertificateIsThatOfTheFeaturesAlone) {
  const Dataset data = rings();
  TrainOptions options;
  options.config = with_labels(false, 30);
  options.config.dtype = Precision::float64;
  options.config.eignn().norm = Norm::none;
  options.config.eignn().source = Source::both;
  const TrainedModel model = train(data, options).model;
  AttackOptions worst{AttackMethod::fgsm, 0.05};
  worst.objective = AttackObjective::margin;
  const auto nodes = torch::cat({data.splits[0].test, data.splits[0].train.narrow(0, 0, 5)});
  const AttackReport report = attack(model, data, nodes, {worst})[0];
  ASSERT_TRUE(report.certified);
  const auto y = report.labels.unsqueeze(1);
  const auto margin = (report.scores.gather(1, y) - report.scores).scatter(1, y, 1e9).amin(1);
  EXPECT_TRUE(margin.ge(report.margin_bound - 1e-9).all().item<bool>());
  const auto right = report.clean_scores.argmax(1).eq(report.labels);
  // Of a linear model the attack along the gradient's sign is the worst there is.
  EXPECT_LE((margin - report.margin_bound).masked_select(right).abs().max().item<double>(), 1e-8);
}

// ---- refusals

TEST(LabelInputsInTraining, AreRefusedWhereTheySayNothing) {
  const auto refused = [](const TrainConfig& config, const Dataset& data) {
    return message_of<ArgumentError>([&] { Trainer(config, data, 0, nullptr); });
  };
  Dataset several = rings();
  for (int64_t v = 0; v < several.nodes(); ++v) several.graph_of.push_back(v / 10);
  EXPECT_CONTAINS(refused(with_labels(false), several), "several graphs");
  Dataset one = rings();
  one.splits[0].train = one.splits[0].train.narrow(0, 0, 1);
  EXPECT_CONTAINS(refused(with_labels(false), one), "one training node");
  TrainConfig none = with_labels(false);
  none.eignn().equilibria = 0;
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { validate_settings(none); }), "label-inputs");
  TrainConfig gcn;
  gcn.model = GcnOptions();
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { assign(gcn, "label-inputs", "on"); }),
                  "gcn does not read label-inputs");
  TrainConfig batch;
  batch.eignn().label_inputs = true;
  batch.eignn().solver = "krylov";
  const Dataset data = rings();
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { train_batch({batch}, {}, data); }), "label inputs");
}

}  // namespace
}  // namespace eignn
