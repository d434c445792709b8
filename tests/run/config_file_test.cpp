// config.toml: what is written is read, also what an earlier version wrote.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "data/atomic_file.h"
#include "data/text_lines.h"
#include "eignn/error.h"
#include "eignn/train.h"
#include "run/checkpoint.h"
#include "run/recipes.h"
#include "run/run_folder.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"
#include "train/assemble.h"
#include "train/config_toml.h"

namespace eignn {
namespace {

const std::string old_folder = EIGNN_TEST_FILES "/run/old";

TEST(ConfigFile, KeepsAnyPath) {
  for (const char* path : {"data/a#b.npz", "say \"hi\"/x", "two\nlines/", "M\xc3\xbcnchen/graph"}) {
    TrainConfig config, back;
    assign(config, "dataset", path);
    assign(config, "seed", "18446744073709551615");
    apply_toml(back, to_toml(config), {}, "config.toml");
    EXPECT_EQ(to_strings(back), to_strings(config));
  }
}

TEST(ConfigFile, ErrorsNameFileLineAndColumn) {
  TrainConfig config;
  const auto refused = [&](const char* text) {
    return message_of<DataError>([&] { apply_toml(config, text, {}, "run/config.toml"); });
  };
  EXPECT_CONTAINS(refused("lr = 0.1\nlearning-rate = 0.1\n"),
                  "'learning-rate' (run/config.toml, line 2, column 17)");
  EXPECT_CONTAINS(refused("lr = 0.1\nepochs = \"ten\"\n"), "run/config.toml, line 2, column 10");
  EXPECT_CONTAINS(refused("lr = [0.1, 0.2]\n"), "'lr' is a list");
}

TEST(ConfigFile, OfALaterFormatIsRefusedAndWithoutANumberRead) {
  TrainConfig config;
  apply_toml(config, "lr = 0.25\n", {}, "config.toml");
  EXPECT_EQ(to_strings(config).at("lr"), "0.25");
  apply_toml(config, "format = 1\nlr = 0.5\n", {}, "config.toml");
  EXPECT_EQ(to_strings(config).at("lr"), "0.5");
  EXPECT_CONTAINS(
      message_of<DataError>([&] { apply_toml(config, "newer = 1\nformat = 2\n", {}, "config.toml"); }),
      "the file has format 2");
}

TEST(ConfigFile, OfTheFirstReleaseIsRead) {
  TrainConfig config;
  const std::string path = old_folder + "/config.toml";
  apply_toml(config, read_whole_file(path), {}, path);
  const auto settings = to_strings(config);
  EXPECT_EQ(settings.at("dataset"), "chains");
  EXPECT_EQ(settings.at("chain-length"), "5");
  EXPECT_EQ(settings.at("start"), "orthogonal");
  EXPECT_EQ(settings.at("weight-decay"), "0.0005");
  EXPECT_EQ(settings.at("threads"), "1");
}

// predictions.csv was written by the same run: node,split,label,predicted,p0,p1.
TEST(Checkpoint, OfTheFirstReleaseGivesThePredictionsOfThen) {
  const std::string path = old_folder + "/model.safetensors";
  const TrainedModel trained = load_model(path);
  const Dataset dataset = load_dataset(trained.config());
  const auto model = restore_model(trained, dataset, trained.config(), nullptr, path);
  const torch::NoGradGuard guard;
  const auto p = probabilities(model->scores(torch::arange(dataset.nodes())), /*multi_label=*/false);
  const std::string csv = read_whole_file(old_folder + "/predictions.csv");
  TextLines lines(csv, path);
  ASSERT_TRUE(lines.next());
  for (int64_t v = 0; v < dataset.nodes(); ++v) {
    ASSERT_TRUE(lines.next());
    const std::string line(lines.line());
    EXPECT_NEAR(p[v][1].item<double>(), std::stod(line.substr(line.rfind(',') + 1)), 1e-5) << line;
  }
}

TEST(Checkpoint, OfALaterFormatIsRefused) {
  const TemporaryFolder folder;
  std::string bytes = read_whole_file(old_folder + "/model.safetensors");
  const std::string now = "eignn-checkpoint-1";
  bytes.replace(bytes.find(now), now.size(), "eignn-checkpoint-9");
  const std::string path = folder.write("model.safetensors", bytes);
  EXPECT_CONTAINS(message_of<DataError>([&] { load_model(path); }), "format '9'");
}

}  // namespace
}  // namespace eignn
