// Hyper-parameters that belong to a data set and a model: recipes/, compiled in.
//
// recipes/texas.toml is EIGNN's for texas. Another model has a folder: recipes/gcnii/texas.toml where the set
// is named, else that of its kind (chains, universities, wikipedia, ppi), else any.toml.
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
