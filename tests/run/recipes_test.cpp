#include "run/recipes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "data/atomic_file.h"
#include "data/toml.h"
#include "eignn/dataset.h"
#include "eignn/error.h"
#include "eignn/model.h"
#include "eignn/train.h"
#include "support/message_of.h"

namespace eignn {
namespace {

const std::string resolved_file = EIGNN_TEST_FILES "/run/recipes_resolved.txt";

TrainConfig config_of(const std::string& model, const std::string& dataset, int64_t classes = 2) {
  TrainConfig config;
  assign(config, "model", model);
  assign(config, "dataset", dataset);
  assign(config, "num-classes", std::to_string(classes));
  return config;
}

std::string setting(const TrainConfig& config, const std::string& name) {
  return to_strings(config).at(name);
}

// "gcn texas: dropout=0.5 …" for each model and data set, those with the same settings on one line.
std::string resolved() {
  std::vector<std::pair<std::string, int64_t>> data = {{"chains", 2}, {"chains", 5}};
  for (const std::string& name : dataset_names())
    if (name != "chains") data.emplace_back(name, 2);
  data.emplace_back("./a-file.npz", 2);
  std::string out;
  for (const std::string& model : model_names()) {
    std::vector<std::pair<std::string, std::string>> lines;  // settings, data sets
    for (const auto& [dataset, classes] : data) {
      std::string settings;
      for (const auto& [name, text] :
           find_recipe(model, dataset, {{"num-classes", std::to_string(classes)}}).settings)
        settings += fmt::format(" {}={}", name, text);
      const std::string label = dataset == "chains" ? fmt::format("chains({})", classes) : dataset;
      const auto same = std::find_if(lines.begin(), lines.end(),
                                     [&, &all = settings](const auto& line) { return line.first == all; });
      if (same == lines.end())
        lines.emplace_back(settings, label);
      else
        same->second += " " + label;
    }
    for (const auto& [settings, sets] : lines) out += fmt::format("{} {}:{}\n", model, sets, settings);
  }
  return out;
}

// A change of recipes/ that is meant is accepted with EIGNN_ACCEPT_RECIPES=1.
TEST(Recipes, OfEveryModelAndDataSetAreThoseThatWereAccepted) {
  if (std::getenv("EIGNN_ACCEPT_RECIPES") != nullptr) std::ofstream(resolved_file) << resolved();
  EXPECT_EQ(resolved(), read_whole_file(resolved_file));
}

TEST(Recipes, AreAllValid) {
  for (const std::string& model : model_names())
    for (const std::string& dataset : dataset_names())
      for (const int64_t classes : {2, 5}) {
        TrainConfig config = config_of(model, dataset, classes);
        EXPECT_NO_THROW(apply_recipe(config, {}); validate(config)) << model << " " << dataset;
      }
}

TEST(Recipes, EachFileIsOfAModelAndEachTableOfAKindOrADataSet) {
  std::set<std::string> kinds = {"default", "own"};
  const auto models = model_names();
  for (const EmbeddedRecipe& recipe : embedded_recipes())
    if (recipe.name == "kinds")
      for (const TomlTable& kind : parse_toml_tables(recipe.toml, "kinds")) {
        kinds.insert(kind.name);
        ASSERT_NE(kind.find("datasets"), nullptr) << kind.name;
        for (const auto& dataset : kind.find("datasets")->values)
          EXPECT_TRUE(is_dataset_name(dataset)) << dataset;
      }
  EXPECT_GT(kinds.size(), 1u);
  for (const EmbeddedRecipe& recipe : embedded_recipes()) {
    if (recipe.name == "kinds" || recipe.name == "times") continue;
    if (recipe.name.find('/') != std::string::npos) continue;  // portfolios, and recipes by name alone
    EXPECT_EQ(std::count(models.begin(), models.end(), recipe.name), 1) << recipe.name;
    for (const TomlTable& table : parse_toml_tables(recipe.toml, recipe.name)) {
      EXPECT_TRUE(kinds.count(table.name) || is_dataset_name(table.name)) << recipe.name << " " << table.name;
      for (const TomlSetting& own : table.settings) {
        TrainConfig config;
        config.model = model_options(recipe.name);
        EXPECT_NO_THROW(assign(config, own.name, own.single(recipe.name))) << recipe.name << " " << own.name;
      }
    }
  }
}

TEST(Recipes, ByNameAloneAreWholeAndNoDataSetTakesThem) {
  size_t count = 0;
  for (const EmbeddedRecipe& recipe : embedded_recipes()) {
    if (recipe.name.rfind("named/", 0) != 0) continue;
    const std::string model = recipe.name.substr(6);
    for (const TomlTable& table : parse_toml_tables(recipe.toml, recipe.name)) {
      ++count;
      TrainConfig config = config_of(model, "mine");
      EXPECT_EQ(apply_recipe(config, {}, table.name), model + "/" + table.name);
      EXPECT_NO_THROW(validate_settings(config)) << table.name;
      TrainConfig other = config_of(model, table.name);  // a folder of that name
      EXPECT_EQ(apply_recipe(other, {}), model + "/own");
    }
  }
  EXPECT_GE(count, 4u);
}

TEST(Recipes, OfADataSetLieOnTopOfItsKindAndThatOnTheDefault) {
  const auto tables = [](const std::string& model, const std::string& dataset, const char* classes = "2") {
    return find_recipe(model, dataset, {{"num-classes", classes}}).tables;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(tables("gcnii", "texas"), (Names{"default", "universities", "texas"}));
  EXPECT_EQ(tables("mlp", "wisconsin"), (Names{"default", "universities"}));
  EXPECT_EQ(tables("gcn", "film"), (Names{"default", "wikipedia"}));
  EXPECT_EQ(tables("ignn", "ppi"), (Names{"default", "ppi"}));
  EXPECT_EQ(tables("gcn", "./mine.npz"), (Names{"default", "own"}));
  EXPECT_EQ(tables("sgc", "ppi"), Names{"default"});  // it has a recipe of EIGNN
  EXPECT_EQ(tables("gcn", "karate"), Names{"default"});
  EXPECT_EQ(tables("gcn", "coauthor-cs"), (Names{"default", "own"}));
  EXPECT_EQ(tables("eignn", "texas"), Names{"universities"});
  EXPECT_EQ(tables("eignn", "chains"), Names{"chains-binary"});
  EXPECT_EQ(tables("eignn", "chains", "5"), Names{"chains-multiclass"});
  EXPECT_EQ(tables("eignn", "./mine.npz"), Names{"own"});

  TrainConfig texas = config_of("gcnii", "texas"), others = config_of("gcnii", "wisconsin");
  assign(texas, "theta", "7");  // given, and stays
  EXPECT_EQ(apply_recipe(texas, {"theta"}), "gcnii/texas");
  apply_recipe(others, {});
  EXPECT_EQ(setting(texas, "layers"), "32");
  EXPECT_EQ(setting(others, "layers"), "16");
  EXPECT_EQ(setting(texas, "theta"), "7");
  EXPECT_EQ(setting(texas, "feature-norm"), "row");
}

TEST(Recipes, DataWithoutARecipeGetTheOwnOneAndOthersTheirs) {
  TrainConfig own = config_of("eignn", "./mine.npz"), texas = config_of("eignn", "texas");
  std::set<std::string> applied;
  EXPECT_EQ(apply_recipe(own, {"dropout"}, "", &applied), "eignn/own");
  EXPECT_EQ(setting(own, "intercept"), "on");
  EXPECT_EQ(setting(own, "feature-norm"), "standard");
  EXPECT_EQ(setting(own, "encoder-activation"), "none");
  EXPECT_EQ(setting(own, "dropout"), "0");  // given
  EXPECT_TRUE(applied.count("encoder"));
  EXPECT_FALSE(applied.count("dropout"));
  apply_recipe(texas, {});
  EXPECT_EQ(setting(texas, "intercept"), "off");
  EXPECT_EQ(setting(texas, "encoder"), "0");
  TrainConfig named = config_of("eignn", "texas");
  EXPECT_EQ(apply_recipe(named, {}, "own"), "eignn/own");
  EXPECT_EQ(setting(named, "intercept"), "on");
}

TEST(Recipes, ThePapersPlainModelIsTakenByItsNameAlone) {
  TrainConfig own = config_of("eignn", "./mine.npz"), folder = config_of("eignn", "paper");
  EXPECT_EQ(apply_recipe(own, {"lr"}, "paper"), "eignn/paper");
  for (const auto& [name, text] : {std::pair{"encoder", "0"},
                                   {"equilibria", "1"},
                                   {"head", "plain"},
                                   {"intercept", "off"},
                                   {"feature-norm", "standard"},
                                   {"dropout", "0"},
                                   {"gamma", "0.8"}})
    EXPECT_EQ(setting(own, name), text) << name;
  EXPECT_EQ(setting(own, "lr"), setting(TrainConfig(), "lr")) << "given";
  EXPECT_EQ(apply_recipe(folder, {}), "eignn/own") << "data that are called so";
  TrainOptions options;
  options.model(EignnOptions{}).recipe("paper");
  EXPECT_EQ(setting(options.config, "feature-norm"), "standard");
  EXPECT_EQ(setting(options.config, "intercept"), "off");
  TrainConfig gcn = config_of("gcn", "./mine.npz");
  EXPECT_THROW(apply_recipe(gcn, {}, "paper"), ArgumentError);
}

TEST(Recipes, TheLongOnesHaveTheirTimes) {
  for (const char* recipe : {"eignn/cornell", "eignn/universities", "eignn/squirrel"}) {
    ASSERT_TRUE(recipe_time(recipe)) << recipe;
    EXPECT_GT(recipe_time(recipe)->epoch_seconds, 0);
    EXPECT_GT(recipe_time(recipe)->usual_epochs, 0);
  }
  EXPECT_EQ(recipe_time("eignn/wikipedia")->usual_epochs, 0);  // film: no such runs were made
  EXPECT_LT(recipe_time("eignn/wikipedia", "chameleon-filtered")->epoch_seconds,
            recipe_time("eignn/wikipedia", "squirrel-filtered")->epoch_seconds);
  EXPECT_EQ(recipe_time("eignn/wikipedia", "film")->epoch_seconds,
            recipe_time("eignn/wikipedia")->epoch_seconds);
  EXPECT_FALSE(recipe_time("eignn/own", "squirrel-filtered")) << "another recipe than that of its kind";
  EXPECT_FALSE(recipe_time("gcn/own"));
  EXPECT_FALSE(recipe_time(""));
}

TEST(Recipes, ANamedOneHoldsForAnyData) {
  TrainConfig named = config_of("eignn", "squirrel"), own = config_of("eignn", "./squirrel.npz");
  apply_recipe(named, {});
  EXPECT_EQ(apply_recipe(own, {}, "squirrel"), "eignn/squirrel");
  assign(own, "dataset", "squirrel");
  EXPECT_EQ(to_strings(own), to_strings(named));

  TrainConfig kind = config_of("gcn", "./mine.npz"), member = kind;
  EXPECT_EQ(apply_recipe(kind, {}, "wikipedia"), "gcn/wikipedia");
  EXPECT_EQ(apply_recipe(member, {}, "film"), "gcn/wikipedia");
  EXPECT_EQ(to_strings(kind), to_strings(member));
}

TEST(Recipes, AnUnknownNameIsRefusedWithTheNearest) {
  TrainConfig config = config_of("gcn", "karate");
  try {
    apply_recipe(config, {}, "squirel");
    FAIL();
  } catch (const ArgumentError& error) {
    EXPECT_EQ(error.field(), "recipe");
    EXPECT_CONTAINS(error.what(), "did you mean squirrel?");
  }
  EXPECT_THROW(apply_recipe(config, {}, "kinds"), ArgumentError);
  EXPECT_THROW(apply_recipe(config, {}, "chains-binary"), ArgumentError);  // gcn has none for them
}

}  // namespace
}  // namespace eignn
