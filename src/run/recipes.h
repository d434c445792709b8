// Recipes: the hyper-parameters of a model for a data set, from the folder recipes/, which is compiled in.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "eignn/options.h"

namespace eignn {

struct EmbeddedRecipe {
  std::string name, toml;  // "gcn", and the text of recipes/gcn.toml
};

/// Generated at build time from recipes/*.toml, including kinds.toml and times.toml.
const std::vector<EmbeddedRecipe>& embedded_recipes();

/// Sets the fields that are not in `given` from the model's recipe for this data set, or from the one called
/// `recipe` (ArgumentError when the model has none of that name). Returns the model and the most specific
/// table that was applied, such as "gcn/texas", or "" when there was none. The names of the settings that it
/// set are added to `applied`.
std::string apply_recipe(TrainConfig& config, const std::set<std::string>& given,
                         const std::string& recipe = {}, std::set<std::string>* applied = nullptr);

/// How long a recipe takes on two cores, as measured (recipes/times.toml).
struct RecipeTime {
  double epoch_seconds = 0;
  int64_t usual_epochs =
      0;  // after which early stopping ended the runs that were measured; 0: there are none
};
/// Nothing where it was not measured. `recipe` is what apply_recipe() returns: "eignn/texas"; of a kind, such
/// as "eignn/wikipedia", the time is that of `dataset` where that one was measured.
std::optional<RecipeTime> recipe_time(const std::string& recipe, const std::string& dataset = {});

/// What a model's recipe says for one data set: its tables [default], [own] where the data set has no recipe,
/// that of the data set's kind and that of the data set laid over each other (recipes/kinds.toml has the
/// rule).
struct Recipe {
  std::vector<std::string> tables;              // those that exist, the most general first
  std::map<std::string, std::string> settings;  // a setting's name and its text
};

/// `run` has the settings of the run, on which the kind may depend (two classes, or more).
Recipe find_recipe(const std::string& model, const std::string& dataset,
                   const std::map<std::string, std::string>& run);

/// The recipe called `name`, for any data: a table of the model, or a data set whose kind has one.
/// ArgumentError (field "recipe") for another name.
Recipe require_recipe(const std::string& model, const std::string& name,
                      const std::map<std::string, std::string>& run);

/// Whether require_recipe() knows this name.
bool has_recipe(const std::string& model, const std::string& name);

}  // namespace eignn
