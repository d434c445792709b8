#include "train/config.h"

#include <gtest/gtest.h>

#include "eignn/error.h"
#include "run/recipes.h"

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
  EXPECT_THROW(apply_toml(config, "learning-rate = 0.1\n", {}, "file.toml"), InputError);
  EXPECT_THROW(apply_toml(config, "lr = fast\n", {}, "file.toml"), InputError);
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

TEST(Recipes, AreAllValidAndChosenByDataSetAndClasses) {
  for (const EmbeddedRecipe& recipe : embedded_recipes()) {
    if (recipe.name.rfind("chains", 0) == 0) continue;         // told apart by the number of classes, below
    if (recipe.name.find('/') != std::string::npos) continue;  // of other models, below
    TrainConfig config;
    config.dataset = recipe.name;
    EXPECT_EQ(apply_recipe(config, {}), recipe.name);
    EXPECT_NO_THROW(validate(config)) << recipe.name;
  }
  for (const auto& [dataset, classes, expected] :
       {std::tuple<const char*, int64_t, const char*>{"chains", 2, "chains-binary"},
        {"chains", 5, "chains-multiclass"},
        {"karate", 2, "karate"}}) {
    TrainConfig config;
    config.dataset = dataset;
    config.num_classes = classes;
    EXPECT_EQ(apply_recipe(config, {}), expected);
    EXPECT_NO_THROW(validate(config));
  }
}

TEST(Recipes, OfAModelGoByTheSetThenItsKindThenAny) {
  const auto chosen = [](const char* model, const char* dataset) {
    TrainConfig config;
    config.model = model;
    config.dataset = dataset;
    const std::string name = apply_recipe(config, {});
    EXPECT_NO_THROW(validate(config)) << name;
    return name;
  };
  EXPECT_EQ(chosen("gcnii", "texas"), "gcnii/texas");
  EXPECT_EQ(chosen("mlp", "wisconsin"), "mlp/universities");
  EXPECT_EQ(chosen("gcn", "film"), "gcn/wikipedia");
  EXPECT_EQ(chosen("ignn", "ppi"), "ignn/ppi");
  EXPECT_EQ(chosen("gcn", "karate"), "gcn/any");
  for (const auto& model : model_names()) {
    if (model == "eignn") continue;
    for (const char* dataset : {"karate", "chains", "texas", "chameleon"})
      EXPECT_EQ(chosen(model.c_str(), dataset).rfind(model + "/", 0), 0u) << model << " " << dataset;
  }
}

TEST(Recipes, OfASetLieOnTopOfItsKinds) {
  TrainConfig texas, others;
  texas.model = others.model = "gcnii";
  texas.dataset = "texas";
  others.dataset = "wisconsin";
  texas.theta = 7;  // given, and stays
  apply_recipe(texas, {"theta"});
  apply_recipe(others, {});
  EXPECT_EQ(texas.layers, 32);
  EXPECT_EQ(others.layers, 16);
  EXPECT_EQ(texas.theta, 7);
  EXPECT_EQ(texas.feature_norm, "row");
  EXPECT_EQ(texas.patience, others.patience);
}

TEST(Recipes, EachIsForAModelThatExistsAndHoldsNothingUnknown) {
  for (const EmbeddedRecipe& recipe : embedded_recipes()) {
    TrainConfig config;
    EXPECT_NO_THROW(apply_toml(config, recipe.toml, {}, recipe.name)) << recipe.name;
    const size_t slash = recipe.name.find('/');
    config.model = slash == std::string::npos ? "eignn" : recipe.name.substr(0, slash);
    EXPECT_NO_THROW(validate(config)) << recipe.name;
  }
}

}  // namespace
}  // namespace eignn
