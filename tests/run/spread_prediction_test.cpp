// Predictions, evaluations and explanations by several threads, against those of one process.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <map>
#include <sstream>

#include "data/npy.h"
#include "eignn/error.h"
#include "explain/explainer.h"
#include "run/predictions_csv.h"
#include "run/restored_run.h"
#include "support/message_of.h"
#include "support/spread_runs.h"
#include "support/temporary_folder.h"
#include "train/metrics.h"

namespace eignn {
namespace {

using test::config_of;
using test::in_one;
using test::in_threads;
using test::Settings;
using test::text_of;

std::vector<Grid> grids() {
  return {{2, 1}, {1, 2}, {3, 1}, {2, 2}};
}

// Calls work(restored) for every process of the grid.
template <class Work>
void restored_on(const std::string& run, Grid grid, const Settings& settings, const Work& work) {
  in_threads(static_cast<int>(grid.rows * grid.columns), [&](const auto& transport) {
    const SpreadOptions spread{Ranks(transport), grid};
    work(restore_run(run, settings, {}, &spread));
  });
}

// The fields of a file of predictions; numbers are compared as such.
void expect_same_table(const std::string& one, const std::string& other, double tolerance) {
  std::istringstream a(one), b(other);
  std::string line, line_b;
  while (std::getline(a, line)) {
    ASSERT_TRUE(std::getline(b, line_b));
    std::istringstream fields(line), fields_b(line_b);
    for (std::string field, field_b; std::getline(fields, field, ',');) {
      ASSERT_TRUE(std::getline(fields_b, field_b, ','));
      if (field.find('.') == std::string::npos) {
        EXPECT_EQ(field, field_b) << line;
      } else {
        EXPECT_NEAR(std::stod(field), std::stod(field_b), tolerance) << line;
      }
    }
  }
  EXPECT_FALSE(std::getline(b, line_b));
}

TEST(SpreadPredictions, AreThoseOfOneProcessInOneFile) {
  const TemporaryFolder folder;
  in_one(config_of({{"head", "batch-norm"}}), folder.path("run"));
  const RestoredRun one = restore_run(folder.path("run"), {});
  const auto whole = one.predictions(torch::arange(one.data.nodes()));
  const std::string table = predictions_csv(one.data, one.split, whole, one.trained->class_names());
  for (const Grid grid : grids()) {
    const std::string csv = folder.path("together.csv"), npy = folder.path("together.npy");
    restored_on(folder.path("run"), grid, {}, [&](const RestoredRun& part) {
      EXPECT_EQ(part.all_nodes(), 34);
      EXPECT_LT(part.data.nodes(), 34);
      EXPECT_EQ(part.which_graph(), "the graph of the training");
      EXPECT_EQ(part.total(part.split.test.numel()), one.split.test.numel());
      const auto mine = part.predictions(torch::arange(part.data.nodes()));
      write_predictions_together(csv, part.data, part.split, mine, part.trained->class_names());
      write_npy_together(npy, part.data, mine.probabilities);
    });
    expect_same_table(text_of(csv), table, 2e-6);
    const Array array = read_npy(npy);
    ASSERT_EQ(array.shape, (std::vector<int64_t>{34, 2}));
    const auto read = torch::tensor(array.as<double>(), torch::kFloat64).view({34, 2});
    EXPECT_LT((read - whole.probabilities).abs().max().item<double>(), 1e-11);
  }
}

TEST(SpreadEvaluation, JudgesThePartsOfOneProcess) {
  const TemporaryFolder folder;
  in_one(config_of({{"head", "l2"}}), folder.path("run"));
  const RestoredRun one = restore_run(folder.path("run"), {});
  Judge judge;
  std::vector<double> losses;
  for (const auto& part : one.parts()) {
    losses.push_back(evaluation_of(scores_of(*one.model, part.nodes),
                                   one.dataset.labels.index_select(0, part.nodes), judge)
                         .loss);
  }
  for (const Grid grid : grids()) {
    restored_on(folder.path("run"), grid, {}, [&](const RestoredRun& part) {
      const auto parts = part.parts();
      ASSERT_EQ(parts.size(), losses.size());
      EXPECT_EQ(part.metric(), one.metric());
      for (size_t k = 0; k < parts.size(); ++k) {
        EXPECT_EQ(parts[k].count, one.parts()[k].count);
        const auto f = part.collected(scores_of(*part.model, parts[k].nodes)),
                   y = part.collected(part.dataset.labels.index_select(0, parts[k].nodes));
        EXPECT_EQ(f.defined(), part.is_first());
        if (part.is_first()) {
          EXPECT_NEAR(evaluation_of(f, y, judge).loss, losses[k], 1e-11);
        }
      }
    });
  }
}

Explanation explained(const RestoredRun& run, int64_t node, const ExplainOptions& options = {}) {
  return Explainer(*run.model, run.dataset, run.config, units_of(*run.trained)).explain(node, {}, options);
}

void expect_same(const Explanation& mine, const Explanation& one) {
  constexpr double tolerance = 1e-10;
  EXPECT_EQ(mine.class_number, one.class_number);
  EXPECT_EQ(mine.kind, one.kind);
  EXPECT_NEAR(mine.score, one.score, tolerance);
  EXPECT_NEAR(mine.constant, one.constant, tolerance);
  EXPECT_NEAR(mine.sum, one.sum, tolerance);
  EXPECT_NEAR(mine.remainder, 0, tolerance);
  std::map<int64_t, NodeContribution> by_node;
  for (const auto& part : one.nodes) by_node[part.node] = part;
  ASSERT_EQ(mine.nodes.size(), one.nodes.size());
  for (const auto& part : mine.nodes) {
    ASSERT_TRUE(by_node.count(part.node));
    EXPECT_EQ(part.hops, by_node[part.node].hops);
    EXPECT_NEAR(part.contribution, by_node[part.node].contribution, tolerance);
  }
  std::map<int64_t, double> by_feature;
  for (const auto& part : one.features) by_feature[part.feature] = part.contribution;
  for (const auto& part : mine.features) EXPECT_NEAR(part.contribution, by_feature[part.feature], tolerance);
  ASSERT_EQ(mine.by_hop.size(), one.by_hop.size());
  for (size_t d = 0; d < one.by_hop.size(); ++d) {
    EXPECT_EQ(mine.by_hop[d].hops, one.by_hop[d].hops);
    EXPECT_EQ(mine.by_hop[d].nodes, one.by_hop[d].nodes);
  }
}

TEST(SpreadExplanation, IsThatOfOneProcess) {
  const TemporaryFolder folder;
  int64_t k = 0;
  for (const Settings& settings :
       {Settings{{"head", "batch-norm"}, {"intercept", "on"}}, Settings{{"head", "l2"}},
        Settings{{"encoder", "5"}, {"encoder-activation", "relu"}, {"feature-norm", "standard"}},
        Settings{{"direction", "in"}, {"normalise", "out-in"}, {"equilibria", "2"}}}) {
    const std::string run = folder.path("run" + std::to_string(k++));
    in_one(config_of(settings), run);
    const RestoredRun one = restore_run(run, {});
    for (const int64_t node : {0, 33}) {
      ExplainOptions options;
      options.raw_units = node == 33;
      const Explanation why = explained(one, node, options);
      for (const Grid grid : {Grid{3, 1}, Grid{2, 2}}) {
        restored_on(run, grid, {}, [&](const RestoredRun& part) {
          const Explanation mine = explained(part, node, options);
          if (part.is_first()) expect_same(mine, why);
        });
      }
    }
  }
}

TEST(SpreadExplanation, NamesNodesByTheDataWhateverTheirOrder) {
  const TemporaryFolder folder;
  in_one(config_of({{"head", "batch-norm"}}), folder.path("run"));
  const Explanation why = explained(restore_run(folder.path("run"), {}), 33);
  for (const NodeOrder order : {NodeOrder::bfs, NodeOrder::ptscotch}) {
    in_threads(4, [&](const auto& transport) {
      SpreadOptions spread{Ranks(transport), Grid{2, 2}};
      spread.order = order;
      const RestoredRun part = restore_run(folder.path("run"), {}, {}, &spread);
      const Explanation mine = explained(part, 33);
      if (part.is_first()) expect_same(mine, why);
    });
  }
}

TEST(SpreadExplanation, MeasuresDistancesAlongAChain) {
  const TemporaryFolder folder;
  in_one(
      config_of({{"dataset", "chains"}, {"chain-length", "30"}, {"chains-per-class", "2"}, {"epochs", "2"}}),
      folder.path("run"));
  const Explanation why = explained(restore_run(folder.path("run"), {}), 45);
  EXPECT_EQ(why.by_hop.back().hops, 15);
  restored_on(folder.path("run"), {4, 1}, {}, [&](const RestoredRun& part) {
    const Explanation mine = explained(part, 45);
    if (part.is_first()) expect_same(mine, why);
  });
}

TEST(SpreadExplanation, RefusesWhatOneProcessExplains) {
  const TemporaryFolder folder;
  in_one(config_of({{"norm", "layer"}, {"epochs", "1"}}), folder.path("run"));
  restored_on(folder.path("run"), {2, 1}, {}, [&](const RestoredRun& part) {
    Explainer explainer(*part.model, part.dataset, part.config);
    EXPECT_CONTAINS(message_of<ArgumentError>([&] { explainer.explain(0, {}, {}); }),
                    "in one process alone (norm)");
    EXPECT_CONTAINS(message_of<ArgumentError>([&] { explainer.influence({}); }), "in one process alone");
    EXPECT_CONTAINS(message_of<ArgumentError>([&] { explainer.edges(0, {}, {}); }), "in one process alone");
    EXPECT_CONTAINS(message_of<ArgumentError>([&] { explainer.explain(34, {}, {}); }), "there is no node 34");
  });
}

TEST(SpreadPredictions, RefuseASolverThatIsNotSpreadAndAnotherModel) {
  const TemporaryFolder folder;
  in_one(config_of({{"solver", "direct"}, {"epochs", "1"}}), folder.path("direct"));
  in_one(config_of({{"epochs", "1"}}), folder.path("sparse"));
  EXPECT_CONTAINS(message_of<ArgumentError>([&] {
                    restored_on(folder.path("direct"), {2, 1}, {}, [](const auto&) {});
                  }),
                  "the solver direct cannot be spread over processes (solver)");
  restored_on(folder.path("direct"), {2, 1}, {{"solver", "sparse"}},
              [](const RestoredRun& part) { EXPECT_STREQ(part.model->solver_name(), "sparse"); });
  EXPECT_CONTAINS(message_of<DataError>([&] {
                    in_threads(2, [&](const auto& transport) {
                      const SpreadOptions spread{Ranks(transport), Grid{2, 1}};
                      restore_run(folder.path(transport->rank() == 0 ? "sparse" : "direct"),
                                  {{"solver", "sparse"}}, {}, &spread);
                    });
                  }),
                  "the processes have read different models");
}

}  // namespace
}  // namespace eignn
