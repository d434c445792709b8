// Hyper-parameters that belong to a data set and a model: recipes/, compiled in.
//
// recipes/texas.toml is EIGNN's for texas. Another model has a folder: the recipe of the set's kind there
// (chains, universities, wikipedia, ppi), or any.toml, and recipes/gcnii/texas.toml on top of it, which need
// only hold what is different on texas.
#pragma once

#include <string>
#include <vector>

namespace eignn {

struct EmbeddedRecipe {
  std::string name, toml;  // "texas", "gcn/universities"
};

/// Made at build time from the files in recipes/, those in recipes/search left out.
const std::vector<EmbeddedRecipe>& embedded_recipes();

}  // namespace eignn
