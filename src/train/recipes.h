// Hyper-parameters that belong to a data set: recipes/*.toml, compiled in.
#pragma once

#include <string>
#include <vector>

namespace eignn {

struct EmbeddedRecipe {
  std::string name, toml;
};

/// Made at build time from the files in recipes/.
const std::vector<EmbeddedRecipe>& embedded_recipes();

}  // namespace eignn
