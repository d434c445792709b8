#include "paper/limitations.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <map>
#include <set>

#include "data/compact.h"
#include "eignn/checkpoint.h"
#include "eignn/error.h"
#include "paper/community_graph.h"
#include "run/train_run.h"
#include "support/message_of.h"
#include "support/oracle.h"
#include "support/temporary_folder.h"
#include "train/graph_reduction.h"
#include "train/plan_request.h"

namespace eignn {
namespace {

using test::relative_error;

TEST(CommunityGraph, IsFixedByItsSeedAndHasWhatItSays) {
  const RawDataset set = community_graph(1050, 1), again = community_graph(1050, 1),
                   other = community_graph(1050, 2);
  check(set);
  EXPECT_EQ(set.arcs.target, again.arcs.target);
  EXPECT_EQ(set.features.bytes, again.features.bytes);
  EXPECT_NE(set.arcs.target, other.arcs.target);
  EXPECT_EQ(set.nodes(), 1050);
  EXPECT_EQ(set.features.shape, (std::vector<int64_t>{1050, 64}));
  int64_t within = 0;
  for (size_t a = 0; a < set.arcs.source.size(); ++a)
    within +=
        std::min<int64_t>(set.arcs.source[a] / 100, 9) == std::min<int64_t>(set.arcs.target[a] / 100, 9);
  EXPECT_NEAR(static_cast<double>(within) / static_cast<double>(set.arcs.source.size()), 0.82, 0.03);
  for (size_t v = 0; v < 1000; ++v) EXPECT_EQ(set.labels[v], set.labels[v / 100 * 100]);
  ASSERT_EQ(set.splits.size(), 1u);
  EXPECT_NEAR(static_cast<double>(set.splits[0].train.size()), 52, 25);
  EXPECT_THROW(community_graph(99, 1), ArgumentError);
}

TEST(Limitations, EachSubjectHasTheExactWayAndTheThreeOthers) {
  for (const bool quick : {true, false}) {
    std::map<std::string, std::set<std::string>> ways;
    std::set<std::string> labels;
    for (const LimitationRow& row : limitation_rows(quick)) {
      EXPECT_TRUE(labels.insert(row.label()).second) << row.label();
      EXPECT_NE(row.dataset.empty(), row.generated == 0);
      if (!row.ranks) ways[row.subject].insert(row.way.substr(0, row.way.find_first_of(", ")));
    }
    EXPECT_EQ(ways.size(), quick ? 3u : 4u);
    for (const auto& [subject, kinds] : ways)
      EXPECT_EQ(kinds, (std::set<std::string>{"exact", "truncated", "partition", "coarsen"})) << subject;
  }
}

TEST(Limitations, RowsAreChosenByName) {
  ReproduceOptions options;
  options.rows = {"squirrel-exact", "ppi-coarsen-to-0.5"};
  const auto rows = limitation_rows(options);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].label(), "PPI, coarsen to 0.5");
  options.rows = {"squirrel-exakt"};
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { limitation_rows(options); }), "squirrel-exact");
}

// ‖Z - Z_exact‖/‖Z_exact‖ from the recurrences with the weights that a short run has kept.
TEST(Limitations, TheErrorOfAKeptRunIsThatOfItsStates) {
  const TemporaryFolder folder;
  const std::string path = folder.path("communities");
  write_compact(community_graph(200, 3), path);
  const auto run = [&](const std::string& name, const std::map<std::string, std::string>& settings) {
    TrainConfig config;
    config.dataset = path;
    config.threads = 1;
    config.epochs = config.patience = 3;
    config.dtype = Precision::float64;
    assign(config, settings);
    train(config, folder.path(name));
    return folder.path(name);
  };
  EXPECT_LE(state_error(run("exact", {})), 1e-9);
  EXPECT_LE(state_error(run("all", {{"solver", "truncated"}, {"eigenpairs", "200"}})), 1e-9);

  const std::string coarse = run("coarse", {{"coarsen", "0.5"}});
  const TrainedModel trained = load_model(coarse);
  const Dataset data = load_dataset(trained.config()), whole = reduced(data, TrainConfig{});
  const auto F = trained.weights().at("F");
  const auto S = make_propagation(whole.graph), S_c = *graph_matrices(data, trained.config()).at(0).S;
  const auto limit = [&](const Propagation& matrix, const torch::Tensor& X) {
    const auto St = test::dense_S(matrix).t(), g = test::dense_g(F, 1e-12);
    auto H = X;
    for (int layer = 0; layer < 150; ++layer) H = 0.8 * St.mm(H).mm(g) + X;  // 0.8^150 is 3e-15
    return H;
  };
  const auto Z = limit(S, whole.features);
  const auto Z_c = limit(S_c, model_features(data))
                       .index_select(0, torch::tensor(data.reduction->group_of, torch::kInt64));
  EXPECT_NEAR(state_error(coarse) / relative_error(Z_c, Z), 1, 1e-6);
  EXPECT_GT(state_error(coarse), 0.01);

  const std::string encoded = run("encoded", {{"encoder", "4"}});
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { state_error(encoded); }), "(model)");
}

TEST(Limitations, ThePageHasATableForEachSubject) {
  const auto row = [](const char* subject, const char* way, double mean) {
    return ResultJson{{"label", ""},          {"subject", subject},        {"way", way},
                      {"ranks", false},       {"metric", "accuracy"},      {"mean", mean},
                      {"std", 0.0},           {"runs_count", 1},           {"solver", "sparse"},
                      {"state_error", 0.25},  {"preprocess_seconds", 2.0}, {"seconds_per_epoch", 0.05},
                      {"seconds_to_best", 3}, {"peak_memory_bytes", 2e8},  {"runs", ResultJson::array()}};
  };
  ResultJson truncated = row("Squirrel", "truncated, 16 eigenpairs", 40.5);
  truncated["bound"] = 1.5;
  truncated["next_eigenvalue"] = 0.7;
  ResultJson cut = row("Squirrel", "partition, 4 parts", 39);
  cut["reduction"] = {{"kind", "partition"}, {"groups", 4}, {"lost_weight_share", 0.125}};
  const ResultJson results = {{"experiment", "limitations"},
                              {"quick", true},
                              {"rows", {row("Squirrel", "exact", 45), truncated, cut}},
                              {"provenance", {{"command", "eignn reproduce limitations --quick"}}}};
  const std::string page = limitations_page(results);
  for (const char* part : {"## Squirrel", "| exact (sparse) | nothing |", "| 25 % | 150 % | 40.50 |",
                           "12.5 % of the edges", "50.0 ms", "200 MB", "A quick run"})
    EXPECT_CONTAINS(page, part);
}

}  // namespace
}  // namespace eignn
