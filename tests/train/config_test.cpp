
#include <gtest/gtest.h>

#include "eignn/error.h"
#include "run/recipes.h"
#include "support/message_of.h"
#include "train/config_toml.h"

namespace eignn {
namespace {

TEST(Config, SurvivesTheRoundTripThroughToml) {
  TrainConfig config;
  config.chain_length = 77;
  config.lr = 0.1 + 0.2;  // needs all its digits
  config.eignn().weight_decay_propagation = 0;
  config.eignn().start = Start::orthogonal;
  config.seed = 18446744073709551615ULL;
  TrainConfig back;
  apply_toml(back, to_toml(config), {}, "test");
  EXPECT_EQ(to_strings(back), to_strings(config));
  EXPECT_EQ(back.lr, config.lr);
}

TEST(Config, TomlDoesNotOverrideWhatWasGiven) {
  TrainConfig config;
  config.lr = 0.5;
  const auto set = apply_toml(config, "lr = 0.1\ngamma = 0.9\n", {"lr"}, "test");
  EXPECT_EQ(config.lr, 0.5);
  EXPECT_EQ(config.eignn().gamma, 0.9);
  EXPECT_EQ(set, (std::set<std::string>{"lr", "gamma"}));
}

TEST(Config, UnknownOrBrokenEntriesAreNamed) {
  TrainConfig config;
  EXPECT_THROW(apply_toml(config, "learning-rate = 0.1\n", {}, "file.toml"), DataError);
  EXPECT_THROW(apply_toml(config, "lr = fast\n", {}, "file.toml"), DataError);
}

TEST(Config, SettingsWithoutEffectBesideTheOthersAreNamed) {
  const auto idle = [](const std::map<std::string, std::string>& texts) {
    TrainConfig config;
    assign(config, texts);
    validate(config);
    std::set<std::string> given;
    for (const auto& [name, text] : texts) given.insert(name);
    return idle_settings_in_words(config, given);
  };
  EXPECT_EQ(idle({{"width", "8"}, {"gamma", "0.7"}}),
            "without effect under these settings: width (the residual head alone reads it)");
  EXPECT_EQ(idle({{"width", "8"}, {"blocks", "1"}, {"head", "residual"}, {"dropout", "0.5"}}), "");
  EXPECT_CONTAINS(idle({{"hidden", "8"}}), "hidden (there is one layer");
  EXPECT_EQ(idle({{"hidden", "8"}, {"layers", "2"}, {"dropout", "0.5"}}), "");
  EXPECT_CONTAINS(idle({{"dropout", "0.5"}}), "dropout (");
  EXPECT_EQ(idle({{"dropout", "0.5"}, {"head", "l2"}}), "");
  EXPECT_CONTAINS(idle({{"dropout", "0.5"}, {"equilibria", "0"}, {"gamma", "0.5"}}), "gamma (");
  EXPECT_CONTAINS(idle({{"encoder-activation", "relu"}}), "encoder-activation (there is no encoder)");
  EXPECT_CONTAINS(idle({{"dataset", "karate"}, {"chain-length", "9"}}), "chain-length (");
  EXPECT_EQ(idle({{"chain-length", "9"}, {"noise", "1"}}), "");
  EXPECT_CONTAINS(idle({{"label", "club"}}), "label (the data set has no tables)");
  EXPECT_EQ(idle({{"label", "club"}, {"dataset", "./mine"}}), "");
  EXPECT_CONTAINS(idle({{"normalise", "out-in"}}), "normalise (");
  EXPECT_EQ(idle({{"normalise", "out-in"}, {"direction", "undirected,out"}}), "");
  EXPECT_CONTAINS(idle({{"model", "gcn"}, {"layers", "1"}, {"hidden", "8"}}), "hidden (there is one layer)");
  EXPECT_CONTAINS(idle({{"model", "mlp"}, {"self-loops", "off"}}),
                  "self-loops (mlp does not read the graph)");
  EXPECT_CONTAINS(idle({{"model", "gat"}, {"direction", "in"}, {"normalise", "out-in"}}), "normalise (");
}

TEST(Config, EverySettingThatCanBeWithoutEffectExists) {
  for (const std::string& model : model_names()) {
    TrainConfig config;
    config.dataset = "karate";
    assign(config, "model", model);
    const auto read = to_strings(config);
    for (const IdleSetting& setting : idle_settings(config))
      EXPECT_TRUE(read.count(setting.name)) << model << " does not read " << setting.name;
  }
}

TEST(Config, ValidationNamesTheField) {
  auto message = [](auto change) -> std::string {
    TrainConfig config;
    try {
      change(config);
      validate(config);
    } catch (const ArgumentError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message([](auto& c) { c.eignn().gamma = 1.01; }).find("(gamma)"), std::string::npos);
  EXPECT_NE(message([](auto& c) { c.eignn().dropout = 1; }).find("(dropout)"), std::string::npos);
  EXPECT_NE(message([](auto& c) { c.lr = 0; }).find("(lr)"), std::string::npos);
  EXPECT_NE(message([](auto& c) { c.epochs = 0; }).find("(epochs)"), std::string::npos);
  EXPECT_NE(message([](auto& c) { c.split = "x"; }).find("(split)"), std::string::npos);
  EXPECT_NE(message([](auto& c) { c.eignn().solver = "spectal"; }).find("did you mean spectral?"),
            std::string::npos);
  EXPECT_NE(message([](auto& c) { c.model = model_options("gcnn"); }).find("did you mean gcn"),
            std::string::npos);
  const auto of_model = [&](const char* model, const char* field, const char* text) {
    return message([&](auto& c) { assign(c, {{"model", model}, {field, text}}); });
  };
  EXPECT_EQ(of_model("ignn", "kappa", "1"), "1 is out of range (kappa); give a number in (0, 1)");
  EXPECT_EQ(of_model("ignn-finite", "kappa", "0"), "");
  EXPECT_EQ(of_model("appnp", "alpha", "0"), "0 is out of range (alpha); give a number in (0, 1]");
  EXPECT_EQ(of_model("ignn", "implicit-layers", "2"), "2 is out of range (implicit-layers); give 1, or 5");
  EXPECT_EQ(of_model("h2gcn", "layers", "9"), "9 is out of range (layers); give 1 to 8");
  EXPECT_EQ(of_model("eignn", "lr-propagation", "-0.5"),
            "-0.5 is out of range (lr-propagation); give -1, or a finite number, 0 or more");
  EXPECT_EQ(of_model("ignn", "head", "batch-norm"), "unknown head 'batch-norm' (head); known: plain, l2");
  EXPECT_EQ(of_model("gcn", "epochs", "ten"), "'ten' is no whole number (epochs); give 1 or more");
  EXPECT_NE(of_model("gcn", "dtype", "float16").find("(dtype)"), std::string::npos);
  EXPECT_EQ(message([](auto&) {}), "");
}

TEST(Config, ASettingThatTheModelDoesNotReadIsRefusedWithTheList) {
  TrainConfig config;
  config.model = GcnOptions{};
  EXPECT_EQ(message_of<ArgumentError>([&] { assign(config, "gamma", "0.5"); }),
            "the model gcn does not read gamma (gamma); leave it out; gcn reads: dropout, hidden, layers");
  EXPECT_CONTAINS(message_of<ArgumentError>([&] { assign(config, "hiden", "5"); }), "did you mean hidden?");
}

TEST(Config, EveryModelSurvivesTheRoundTripThroughTexts) {
  for (const std::string& model : model_names()) {
    TrainConfig config, back;
    config.model = model_options(model);
    EXPECT_NO_THROW(validate(config)) << model;
    assign(back, to_strings(config));
    EXPECT_EQ(to_strings(back), to_strings(config)) << model;
  }
}

}  // namespace
}  // namespace eignn
