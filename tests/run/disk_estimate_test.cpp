#include "run/disk_estimate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <filesystem>

#include "run/checkpoint.h"
#include "run/recipes.h"
#include "support/temporary_folder.h"
#include "train/assemble.h"

namespace eignn {
namespace {

double bytes_in(const std::string& folder) {
  double sum = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) sum += static_cast<double>(entry.file_size());
  return sum;
}

TEST(DiskEstimate, KnowsTheWeightsOfEveryModelWithoutItsGraph) {
  for (const std::string& model : model_names()) {
    TrainConfig config;
    config.dataset = "karate";
    config.model = model_options(model);
    apply_recipe(config, {});
    const Dataset raw = load_raw_dataset(config), data = prepared(raw, config);
    EXPECT_EQ(prepared_feature_count(raw, config), data.feature_count()) << model;
    EXPECT_EQ(bytes_of_weights(config, data.feature_count(), data.classes),
              bytes_of(state_of(*make_model(data, config, nullptr))))
        << model;
  }
}

TEST(DiskEstimate, KnowsHowManyFeaturesAreMade) {
  TrainConfig config;
  config.dataset = "karate";
  config.feature_norm = FeatureNorm::standard;  // leaves out those that are constant over the training nodes
  const Dataset raw = load_raw_dataset(config);
  EXPECT_LT(prepared_feature_count(raw, config), raw.feature_count());
  EXPECT_EQ(prepared_feature_count(raw, config), prepared(raw, config).feature_count());
  config.structure = true;
  EXPECT_GE(prepared_feature_count(raw, config), prepared(raw, config).feature_count());
}

// A ring with names of nodes and classes, as from tables: what a checkpoint keeps of it is no little.
Dataset named_ring(int64_t nodes, bool of_numbers) {
  std::vector<int64_t> from, to;
  for (int64_t v = 0; v < nodes; ++v) {
    from.push_back(v);
    to.push_back((v + 3) % nodes);
  }
  const auto kind = torch::arange(nodes).remainder(3);
  Dataset data = make_dataset(Graph::from_arcs(nodes, from, to),
                              torch::stack({kind == 0, kind == 1}, 1).to(torch::kFloat64), kind, 0);
  for (int64_t v = 0; v < nodes; ++v) data.node_names.push_back(fmt::format("customer {}", v));
  if (of_numbers) {
    data.labels = torch::stack({kind, 2 * kind}, 1).to(torch::kFloat64) + 0.1234567;
    data.classes = 2;
    data.class_names = {"height", "weight"};
  } else {
    data.class_names = {"regular", "occasional", "gone"};
  }
  return data;
}

TEST(DiskEstimate, HoldsWhatARunWritesAndLittleMore) {
  for (const bool of_numbers : {false, true})
    for (const char* conformal : {"0", "0.1"})
      for (const char* epochs : {"6", "3000"}) {
        const TemporaryFolder folder;
        const std::string path = folder.path("run");
        const Dataset data = named_ring(4000, of_numbers);
        TrainOptions options;
        options.model(MlpOptions{}).set("epochs", epochs).set("patience", epochs).set("threads", "1");
        options.set("conformal", conformal).folder(path);
        int64_t done = 0;
        const int64_t all = std::stoll(epochs);
        TrainHooks hooks;
        hooks.interrupted = [&] { return ++done == all - 1; };
        options.hooks(hooks);
        train(data, options);
        const auto state = static_cast<double>(std::filesystem::file_size(path + "/resume.safetensors"));
        TrainOptions rest;
        const TrainedRun run = train(data, rest.resume(path));
        const double kept = bytes_in(path), weights = bytes_of(run.model.weights());
        const RunBytes bytes = bytes_of_run(weights, data, run.result.config);
        const std::string what = fmt::format("{} {} {}", of_numbers, conformal, epochs);
        EXPECT_GE(bytes.small + bytes.model, kept) << what;
        EXPECT_LE(bytes.small + bytes.model, 2.5 * kept) << what;
        EXPECT_GE(bytes.on_way, 2 * state) << what;
        EXPECT_LE(bytes.on_way, 2 * 2.5 * state) << what;
      }
}

}  // namespace
}  // namespace eignn
