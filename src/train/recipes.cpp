#include "train/recipes.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <sstream>

#include "eignn/error.h"
#include "eignn/training.h"
#include "train/config.h"

namespace eignn {

namespace {

// The recipe that a configuration calls for; chains have one for two classes and one for more.
std::string recipe_name(const TrainConfig& config) {
  if (config.dataset != "chains") return config.dataset;
  return config.num_classes == 2 ? "chains-binary" : "chains-multiclass";
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
  const std::string wanted = recipe_name(config);
  for (const EmbeddedRecipe& recipe : embedded_recipes()) {
    if (recipe.name != wanted) continue;
    apply_toml(config, recipe.toml, given, "recipe " + wanted);
    return wanted;
  }
  return "";
}

}  // namespace eignn
