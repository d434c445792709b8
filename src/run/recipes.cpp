#include "run/recipes.h"

#include <fmt/format.h>

#include <algorithm>

#include "data/toml.h"
#include "eignn/error.h"
#include "graph/nearest_name.h"
#include "train/config_toml.h"

namespace eignn {

namespace {

using Tables = std::vector<TomlTable>;

constexpr const char* kinds_file = "kinds";
constexpr const char* times_file = "times";
constexpr const char* datasets_key = "datasets";
constexpr const char* default_table = "default";
constexpr const char* own_table = "own";
constexpr const char* named_folder = "named/";  // of recipes that are taken by their name alone

// The tables of recipes/NAME.toml, parsed once; none when there is no such file.
const Tables& tables_of(const std::string& name) {
  static const std::map<std::string, Tables> all = [] {
    std::map<std::string, Tables> parsed;
    for (const EmbeddedRecipe& recipe : embedded_recipes())
      parsed[recipe.name] = parse_toml_tables(recipe.toml, fmt::format("recipes/{}.toml", recipe.name));
    return parsed;
  }();
  static const Tables none;
  const auto found = all.find(name);
  return found == all.end() ? none : found->second;
}

const TomlTable* find_table(const Tables& tables, const std::string& name) {
  for (const TomlTable& table : tables)
    if (table.name == name) return &table;
  return nullptr;
}

bool is_of_kind(const TomlTable& kind, const std::string& dataset,
                const std::map<std::string, std::string>& run) {
  return std::all_of(kind.settings.begin(), kind.settings.end(), [&](const TomlSetting& setting) {
    const auto& values = setting.values;
    const auto among = [&](const std::string& text) {
      return std::find(values.begin(), values.end(), text) != values.end();
    };
    if (setting.name == datasets_key) return among(dataset);
    const auto own = run.find(setting.name);
    return own != run.end() && among(own->second);
  });
}

// Empty when the data set is of no kind.
std::string kind_of(const std::string& dataset, const std::map<std::string, std::string>& run) {
  for (const TomlTable& kind : tables_of(kinds_file))
    if (is_of_kind(kind, dataset, run)) return kind.name;
  return "";
}

// Whether [own] holds for a data set: a path, or a public set that has no recipe. A set has one when it is of
// a kind or EIGNN has a table for it; then no model's [own] holds, so that all are compared as before.
bool is_own(const std::string& dataset, const std::map<std::string, std::string>& run) {
  return dataset != "chains" && dataset != "karate" && kind_of(dataset, run).empty() &&
         find_table(tables_of("eignn"), dataset) == nullptr;
}

// The names that --recipe accepts: the model's tables, and the data sets whose kind is one of them.
std::vector<std::string> recipe_names(const std::string& model) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const std::string& file : {model, named_folder + model})
    for (const TomlTable& table : tables_of(file)) add(table.name);
  for (const TomlTable& kind : tables_of(kinds_file))
    if (const TomlSetting* datasets = kind.find(datasets_key);
        datasets != nullptr && find_table(tables_of(model), kind.name) != nullptr)
      for (const std::string& dataset : datasets->values) add(dataset);
  return names;
}

}  // namespace

namespace {

void lay_over(Recipe& recipe, const std::string& file, const std::string& name) {
  const TomlTable* table = find_table(tables_of(file), name);
  if (table == nullptr) return;
  recipe.tables.push_back(name);
  for (const TomlSetting& setting : table->settings)
    recipe.settings[setting.name] = setting.single(fmt::format("recipes/{}.toml", file));
}

}  // namespace

Recipe find_recipe(const std::string& model, const std::string& dataset,
                   const std::map<std::string, std::string>& run) {
  std::vector<std::string> names = {default_table};
  if (dataset == own_table || is_own(dataset, run)) names.emplace_back(own_table);
  names.push_back(kind_of(dataset, run));
  if (dataset != own_table) names.push_back(dataset);
  Recipe recipe;
  for (const std::string& name : names) lay_over(recipe, model, name);
  return recipe;
}

Recipe require_recipe(const std::string& model, const std::string& name,
                      const std::map<std::string, std::string>& run) {
  if (!has_recipe(model, name))
    throw unknown_name(fmt::format("recipe of {}", model), "recipe", name, recipe_names(model));
  if (find_table(tables_of(named_folder + model), name) != nullptr) {
    Recipe recipe;
    lay_over(recipe, model, default_table);
    lay_over(recipe, named_folder + model, name);
    return recipe;
  }
  return find_recipe(model, name, run);
}

bool has_recipe(const std::string& model, const std::string& name) {
  const auto names = recipe_names(model);
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string apply_recipe(TrainConfig& config, const std::set<std::string>& given, const std::string& name,
                         std::set<std::string>* applied) {
  const auto run = to_strings(config);
  const std::string& model = run.at("model");
  const Recipe recipe =
      name.empty() ? find_recipe(model, run.at("dataset"), run) : require_recipe(model, name, run);
  for (const auto& [setting, text] : recipe.settings)
    if (given.count(setting) == 0) {
      assign_or_refuse(config, setting, text, fmt::format("recipes/{}.toml", model), setting);
      if (applied) applied->insert(setting);
    }
  return recipe.tables.empty() ? "" : model + "/" + recipe.tables.back();
}

std::optional<RecipeTime> recipe_time(const std::string& recipe, const std::string& dataset) {
  const size_t slash = recipe.find('/');
  if (slash == std::string::npos) return {};
  const TomlTable* times = find_table(tables_of(times_file), recipe.substr(0, slash));
  if (times == nullptr) return {};
  const std::string table = recipe.substr(slash + 1);
  // Data sets of one kind share a recipe and differ in size.
  const TomlSetting* time = kind_of(dataset, {}) == table ? times->find(dataset) : nullptr;
  if (time == nullptr) time = times->find(table);
  if (time == nullptr || time->values.empty()) return {};
  RecipeTime out;
  out.epoch_seconds = std::stod(time->values[0]);
  if (time->values.size() > 1) out.usual_epochs = std::stoll(time->values[1]);
  return out;
}

}  // namespace eignn
