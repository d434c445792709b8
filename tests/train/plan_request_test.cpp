#include "train/plan_request.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "report/inspection.h"
#include "train/assemble.h"

namespace eignn {
namespace {

TrainConfig chains(int64_t length) {
  TrainConfig config;
  config.chain_length = length;
  config.chains_per_class = 4;
  config.feature_dim = 10;
  return config;
}

PlanRequest request_of(const TrainConfig& config, const std::vector<GraphMatrix>& graphs) {
  return plan_request(graphs, load_dataset(config), config);
}

TEST(PlanRequest, TakesTheWidthOfTheEncoder) {
  TrainConfig config = chains(20);
  config.eignn().encoder = 7;
  const auto graphs = graph_matrices(load_dataset(config), config);
  const PlanRequest request = request_of(config, graphs);
  EXPECT_EQ(request.width, 7);
  EXPECT_FALSE(request.options.fixed_features);
  config.eignn().encoder = 0;
  EXPECT_EQ(request_of(config, graphs).width, 10);
}

TEST(PlanRequest, CountsTheNodesThatAreReadAndSaysWhatTheHeadReads) {
  TrainConfig config = chains(20);
  const auto graphs = graph_matrices(load_dataset(config), config);
  const PlanRequest plain = request_of(config, graphs);
  EXPECT_EQ(plain.trained, 8);  // 5 and 10 % of 160
  EXPECT_EQ(plain.evaluated, 16);
  EXPECT_EQ(plain.outputs, 2);
  EXPECT_EQ(plain.reads, Reads::scores_only);
  config.eignn().head = Head::l2;
  EXPECT_EQ(request_of(config, graphs).reads, Reads::labelled_rows);
  config.eignn().head = Head::batch_norm;
  EXPECT_EQ(request_of(config, graphs).reads, Reads::all_nodes);
  config.eignn().head = Head::plain;
  config.eignn().encoder = 4;
  EXPECT_EQ(request_of(config, graphs).reads, Reads::labelled_rows) << "the encoder needs dL/dX, hence Z";
}

TEST(PlanRequest, ASignalTravelsFromNodesWithFeaturesToThoseWithout) {
  TrainConfig config = chains(20);
  const auto graphs = graph_matrices(load_dataset(config), config);
  EXPECT_EQ(request_of(config, graphs).hops, 19) << "only the first node of a chain has features";
  config.noise = 0.01;
  EXPECT_EQ(request_of(config, graphs).hops, 0);
  config.noise = 0;
  config.eignn().encoder = 4;
  EXPECT_EQ(request_of(config, graphs).hops, 0) << "the encoder's bias is everywhere";
}

TEST(PlanRequest, InspectNamesTheSolverThatTrainingTakes) {
  for (const char* head : {"plain", "l2", "batch-norm"})
    for (const int64_t encoder : {0, 64})
      for (const double noise : {0.0, 0.1})
        for (const double gamma : {0.8, 1.0}) {
          TrainConfig config = chains(10);
          assign(config, "head", head);
          config.eignn().encoder = encoder;
          config.noise = noise;
          config.eignn().gamma = gamma;
          EXPECT_EQ(inspect_dataset(config).plan->solver,
                    make_model(load_dataset(config), config, nullptr)->solver_name())
              << head << " " << encoder << " " << noise << " " << gamma;
        }
}

TEST(PlanRequest, InspectListsAPriceForEverySolver) {
  const auto prices = inspect_dataset(chains(20)).plan->prices;
  ASSERT_EQ(prices.size(), 6u);
  EXPECT_EQ(prices[0].refused, "");
  for (const Price& price : prices) {
    EXPECT_GT(price.epoch_ms, 0) << price.solver;
    EXPECT_GE(price.preparation_s, 0) << price.solver;
  }
}

}  // namespace
}  // namespace eignn
