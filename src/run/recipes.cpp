#include "run/recipes.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <sstream>

#include "eignn/error.h"
#include "eignn/training.h"
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
  if (config.model != "eignn") {
    const std::string kind = kind_of(config.dataset), general = config.model + "/any";
    if (kind == config.dataset) return {{config.model + "/" + kind, general}};
    return {{config.model + "/" + config.dataset}, {config.model + "/" + kind, general}};
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
    throw InputError(fmt::format("{} ({}); write one name = value per line", error.what(), origin));
  }
  for (const CLI::ConfigItem& item : items) {
    if (given.count(item.name)) continue;
    if (item.inputs.size() != 1 || !assign(config, item.name, item.inputs[0]))
      throw InputError(fmt::format("there is no setting '{}' ({}); see eignn train --help for their names",
                                   item.fullname(), origin));
    set.insert(item.name);
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
