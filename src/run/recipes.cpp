#include "run/recipes.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <sstream>

#include "eignn/error.h"
#include "eignn/train.h"
#include "train/config.h"

namespace eignn {

namespace {

// The data sets that the baselines' recipes speak of together.
std::string kind_of(const std::string& dataset) {
  static const std::map<std::string, std::vector<std::string>> kinds = {
      {"universities", {"cornell", "cornell-true", "texas", "wisconsin"}},
      {"wikipedia", {"chameleon", "chameleon-filtered", "squirrel", "squirrel-filtered", "film"}}};
  for (const auto& [kind, sets] : kinds)
    if (std::find(sets.begin(), sets.end(), dataset) != sets.end()) return kind;
  return dataset;
}

// The recipes that a configuration may take: of each list the first that there is, those of the first list on
// top. EIGNN's chains have one for two classes and one for more.
std::vector<std::vector<std::string>> recipe_names(const TrainConfig& config) {
  if (!config.is_eignn()) {
    const std::string model = name(config.model), kind = kind_of(config.dataset), general = model + "/any";
    if (kind == config.dataset) return {{model + "/" + kind, general}};
    return {{model + "/" + config.dataset}, {model + "/" + kind, general}};
  }
  if (config.dataset != "chains") return {{config.dataset}};
  return {{config.num_classes == 2 ? "chains-binary" : "chains-multiclass"}};
}

const EmbeddedRecipe* find_recipe(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    for (const EmbeddedRecipe& recipe : embedded_recipes())
      if (recipe.name == name) return &recipe;
  return nullptr;
}

}  // namespace

std::set<std::string> apply_toml(TrainConfig& config, const std::string& toml,
                                 const std::set<std::string>& given, const std::string& origin) {
  std::set<std::string> set = given;
  std::istringstream text(toml);
  std::vector<CLI::ConfigItem> items;
  try {
    items = CLI::ConfigTOML().from_config(text);
  } catch (const CLI::Error& error) {
    throw DataError(origin, "", error.what(), "write one name = value per line");
  }
  std::map<std::string, std::string> texts;
  for (const CLI::ConfigItem& item : items) {
    if (given.count(item.name)) continue;
    if (item.inputs.size() != 1)
      throw DataError(origin, item.fullname(), "this is no single value", "write one name = value per line");
    texts[item.name] = item.inputs[0];
    set.insert(item.name);
  }
  try {
    assign(config, texts);
  } catch (const ArgumentError& error) {
    throw DataError(origin, error.field(), error.problem(), error.remedy());
  }
  return set;
}

std::string apply_recipe(TrainConfig& config, const std::set<std::string>& given) {
  std::set<std::string> settled = given;
  std::string first;
  for (const auto& names : recipe_names(config))
    if (const EmbeddedRecipe* recipe = find_recipe(names)) {
      settled = apply_toml(config, recipe->toml, settled, fmt::format("recipe {}", recipe->name));
      if (first.empty()) first = recipe->name;
    }
  return first;
}

}  // namespace eignn
