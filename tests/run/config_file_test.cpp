// config.toml: what is written is read, also what an earlier version wrote.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "data/atomic_file.h"
#include "data/safetensors.h"
#include "data/text_lines.h"
#include "eignn/error.h"
#include "eignn/train.h"
#include "run/checkpoint.h"
#include "run/predictions_csv.h"
#include "run/recipes.h"
#include "run/restored_run.h"
#include "run/train_run.h"
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

// Before there was a choice an encoder had relu; a file that a run wrote then is complete without saying so.
TEST(ConfigFile, OfBeforeTheChoiceOfAnActivationMeansRelu) {
  const auto without = [](std::string text, const std::string& setting) {
    const size_t line = text.find("\n" + setting + " = ") + 1, end = text.find('\n', line);
    return text.erase(line, end + 1 - line);
  };
  TrainConfig config;
  config.eignn().encoder = 8;
  const std::string old = without(without(to_toml(config), "encoder-activation"), "intercept");
  TrainConfig back;
  const auto set = apply_toml(back, old, {}, "config.toml");
  EXPECT_EQ(back.eignn().encoder_activation, Activation::relu);
  EXPECT_FALSE(back.eignn().intercept);
  EXPECT_TRUE(set.count("intercept")) << "no recipe may fill it in";

  TrainConfig now;
  apply_toml(now, to_toml(config), {}, "config.toml");
  EXPECT_EQ(now.eignn().encoder_activation, Activation::none);
  TrainConfig by_hand;
  EXPECT_FALSE(apply_toml(by_hand, "encoder = 8\n", {}, "config.toml").count("intercept"));
  EXPECT_EQ(by_hand.eignn().encoder_activation, Activation::none);

  TrainConfig saved;  // a checkpoint's or a summary's settings
  auto texts = to_strings(config);
  texts.erase("encoder-activation");
  assign_known(saved, texts);
  EXPECT_EQ(saved.eignn().encoder_activation, Activation::relu);
  texts["encoder"] = "0";
  TrainConfig plain;
  assign_known(plain, texts);
  EXPECT_EQ(plain.eignn().encoder_activation, Activation::none) << "without an encoder there is none";
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
  EXPECT_CONTAINS(read_whole_file(path), "\nlayers = 2");
  EXPECT_EQ(settings.at("layers"), "1") << "EIGNN had one, and did not read the setting";
  EXPECT_EQ(load_model(old_folder + "/model.safetensors").config().eignn().layers, 1);
}

// The predictions of the checkpoint in this folder against its predictions.csv,
// node,split,label,predicted,p0,p1, which the same run wrote, parts and labels included.
void expect_predictions_of_then(const std::string& folder) {
  const RestoredRun restored = restore_run(folder + "/model.safetensors", {});
  EXPECT_FALSE(restored.recognised.remembers) << "older versions did not keep who was trained on";
  const TemporaryFolder now;
  write_predictions_csv(now.path("p.csv"), restored.data, restored.split,
                        restored.predictions(torch::arange(restored.data.nodes())), {});
  const std::string expected = read_whole_file(folder + "/predictions.csv"),
                    found = read_whole_file(now.path("p.csv"));
  TextLines lines(expected, folder), lines_now(found, "now");
  ASSERT_TRUE(lines.next() && lines_now.next());
  EXPECT_EQ(lines.line(), lines_now.line());
  const auto fields = [](std::string_view line) {
    std::vector<std::string> out(1);
    for (const char c : line)
      if (c == ',')
        out.emplace_back();
      else
        out.back() += c;
    return out;
  };
  for (int64_t v = 0; v < restored.data.nodes(); ++v) {
    ASSERT_TRUE(lines.next() && lines_now.next());
    const auto then = fields(lines.line()), here = fields(lines_now.line());
    ASSERT_EQ(then.size(), 6u);
    ASSERT_EQ(here.size(), 6u);
    for (size_t k = 0; k < 4; ++k) EXPECT_EQ(then[k], here[k]) << lines.line();
    for (size_t k = 4; k < 6; ++k) EXPECT_NEAR(std::stod(then[k]), std::stod(here[k]), 1e-5) << lines.line();
  }
}

TEST(Checkpoint, OfTheFirstReleaseGivesThePredictionsOfThen) {
  expect_predictions_of_then(old_folder);
}

// Of format 3: an encoder, and no word of its activation.
TEST(Checkpoint, OfTheSecondReleaseEncodesWithRelu) {
  expect_predictions_of_then(old_folder + "/format-3");
  const TrainedModel model = load_model(old_folder + "/format-3/model.safetensors");
  EXPECT_EQ(model.config().eignn().encoder, 6);
  EXPECT_EQ(model.config().eignn().encoder_activation, Activation::relu);
  EXPECT_FALSE(model.config().eignn().intercept);
  EXPECT_TRUE(model.class_names().empty());
  EXPECT_EQ(model.class_name(1), "1");
}

TEST(Checkpoint, ARunThatTheSecondReleaseBeganIsResumedAndNotUsedBefore) {
  const TemporaryFolder folder;
  for (const char* file : {"config.toml", "metrics.jsonl", "resume.safetensors"})
    folder.write(file, read_whole_file(old_folder + "/unfinished-4/" + file));
  EXPECT_CONTAINS(message_of<DataError>([&] { load_model(folder.path("")); }), "older version began it");
  const RunResult result = train({}, folder.path(""), /*resume=*/true);
  EXPECT_EQ(result.epochs, 40);
  EXPECT_TRUE(load_model(folder.path("")).recognise(load_dataset(result.config)).unchanged);
}

// Format 4 is sealed and recorded, and has not every setting of today.
TEST(Checkpoint, OfTheFormatBeforeMeansWhatTheProgramOfThenDid) {
  const TemporaryFolder folder;
  TrainConfig config;
  config.dataset = "karate";
  config.epochs = 3;
  train(config, folder.path("run"), /*resume=*/false);
  const std::string path = folder.path("run") + "/model.safetensors";
  SafeTensors content = read_safetensors(path);
  ASSERT_EQ(content.metadata.at("config.rank"), "-1");
  content.metadata.erase("config.rank");
  content.metadata.erase("digest");
  seal(content);
  write_safetensors(path, content);
  EXPECT_CONTAINS(message_of<DataError>([&] { load_model(path); }), "rank");
  content.metadata["format"] = "eignn-checkpoint-4";
  content.metadata.erase("digest");
  seal(content);
  write_safetensors(path, content);
  const TrainedModel model = load_model(path);
  EXPECT_EQ(model.config().eignn().rank, -1);
  EXPECT_TRUE(model.recognise(load_dataset(config)).unchanged);
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
