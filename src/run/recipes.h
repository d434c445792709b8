// Hyper-parameters that belong to a data set and a model: recipes/, compiled in.
//
// recipes/texas.toml is EIGNN's for texas. Another model has a folder: the recipe of the set's kind there
// (chains, universities, wikipedia, ppi), or any.toml, and recipes/gcnii/texas.toml on top of it, which need
// only hold what is different on texas.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "eignn/options.h"

namespace eignn {

struct EmbeddedRecipe {
  std::string name, toml;  // "texas", "gcn/universities"
};

/// Made at build time from the files in recipes/, those in recipes/search left out.
const std::vector<EmbeddedRecipe>& embedded_recipes();

/// Fills what the caller did not set (`given` holds the names of what was) from the recipe for this data set
/// and model, if there is one, and returns the recipe's name or "".
std::string apply_recipe(TrainConfig& config, const std::set<std::string>& given);

/// Fills what the caller did not set from `name = value` lines (a config.toml); returns the names set by
/// either. DataError for a line or a name that makes no sense; `origin` names the text in messages.
std::set<std::string> apply_toml(TrainConfig& config, const std::string& toml,
                                 const std::set<std::string>& given, const std::string& origin);

}  // namespace eignn
