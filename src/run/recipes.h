// Hyper-parameters that belong to a model and a data set: recipes/, compiled in.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "eignn/options.h"

namespace eignn {

struct TomlSetting;

struct EmbeddedRecipe {
  std::string name, toml;  // "gcn", and the text of recipes/gcn.toml
};

/// Made at build time from recipes/*.toml, kinds.toml among them.
const std::vector<EmbeddedRecipe>& embedded_recipes();

/// Fills what the caller did not set (`given` holds the names of what was) from the model's recipe for this
/// data set, or from the one called `recipe` (ArgumentError when the model has none of that name). Returns
/// the model and the topmost table that was applied, "gcn/texas", or "" when there was none.
std::string apply_recipe(TrainConfig& config, const std::set<std::string>& given,
                         const std::string& recipe = {});

/// Fills what the caller did not set from `name = value` lines (a config.toml); returns the names set by
/// either. DataError for a line or a name that makes no sense; `origin` names the text in messages.
std::set<std::string> apply_toml(TrainConfig& config, const std::string& toml,
                                 const std::set<std::string>& given, const std::string& origin);

/// What a model's recipe says for one data set: its tables [default], that of the data set's kind and that of
/// the data set laid over each other (recipes/kinds.toml has the rule).
struct Recipe {
  std::vector<std::string> tables;              // those that are there, the lowest first
  std::map<std::string, std::string> settings;  // a setting's name and its text
};

/// `run` are the settings of the run, which may decide on the kind (two classes, or more).
Recipe find_recipe(const std::string& model, const std::string& dataset,
                   const std::map<std::string, std::string>& run);

/// The recipe called `name`, for any data: a table of the model, or a data set whose kind has one.
/// ArgumentError (field "recipe") for another name.
Recipe require_recipe(const std::string& model, const std::string& name,
                      const std::map<std::string, std::string>& run);

/// Whether a setting is the format number of a configuration; DataError when it is another one than ours.
bool is_config_format(const TomlSetting& setting, const std::string& origin);

/// Sets one field of the configuration from a file's text; DataError when there is no such field or the text
/// does not fit.
void assign_or_refuse(TrainConfig& config, const std::string& name, const std::string& text,
                      const std::string& origin, const std::string& place);

}  // namespace eignn
