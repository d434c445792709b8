#include "train/config.h"

#include <gtest/gtest.h>

#include "eignn/error.h"

namespace eignn {
namespace {

TEST(Config, SurvivesTheRoundTripThroughToml) {
  TrainConfig config;
  config.chain_length = 77;
  config.lr = 0.1 + 0.2;  // needs all its digits
  config.weight_decay_propagation = 0;
  config.start = "orthogonal";
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
  EXPECT_EQ(config.gamma, 0.9);
  EXPECT_EQ(set, (std::set<std::string>{"lr", "gamma"}));
}

TEST(Config, UnknownOrBrokenEntriesAreNamed) {
  TrainConfig config;
  EXPECT_THROW(apply_toml(config, "learning-rate = 0.1\n", {}, "file.toml"), DataError);
  EXPECT_THROW(apply_toml(config, "lr = fast\n", {}, "file.toml"), DataError);
}

TEST(Config, ValidationNamesTheFlag) {
  auto message = [](auto change) -> std::string {
    TrainConfig config;
    change(config);
    try {
      validate(config);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message([](auto& c) { c.gamma = 1.01; }).find("--gamma"), std::string::npos);
  EXPECT_NE(message([](auto& c) { c.dropout = 1; }).find("--dropout"), std::string::npos);
  EXPECT_NE(message([](auto& c) { c.lr = 0; }).find("--lr"), std::string::npos);
  EXPECT_NE(message([](auto& c) { c.epochs = 0; }).find("--epochs"), std::string::npos);
  EXPECT_NE(message([](auto& c) { c.split = "x"; }).find("--split"), std::string::npos);
  EXPECT_NE(message([](auto& c) { c.solver = "spectal"; }).find("did you mean spectral?"), std::string::npos);
  EXPECT_NE(message([](auto& c) { c.model = "gcnn"; }).find("did you mean gcn"), std::string::npos);
  EXPECT_NE(message([](auto& c) { c.kappa = 1; }).find("--kappa"), std::string::npos);
  EXPECT_NE(message([](auto& c) { c.alpha = 0; }).find("--alpha"), std::string::npos);
  EXPECT_NE(message([](auto& c) { c.implicit_layers = 2; }).find("--implicit-layers"), std::string::npos);
  EXPECT_NE(message([](auto& c) { c.dtype = "float16"; }).find("--dtype"), std::string::npos);
  EXPECT_EQ(message([](auto&) {}), "");
}

}  // namespace
}  // namespace eignn
