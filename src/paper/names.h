// The names that `reproduce` and `bench` take. No libtorch here: the command line checks them before it loads
// the engine.
#pragma once

#include <string>
#include <vector>

namespace eignn {

/// The paper's experiments, in the order in which `reproduce all` runs them (reproduction.h).
inline const std::vector<std::string>& experiment_names() {
  static const std::vector<std::string> names = {
      "chains-binary", "chains-multiclass", "finite-depth", "oversmoothing", "efficiency",
      "noise",         "heterophilic",      "ppi",          "attacks",       "limitations"};
  return names;
}

/// The five data sets of the paper's second table.
inline const std::vector<std::string>& heterophilic_sets() {
  static const std::vector<std::string> names = {"cornell", "texas", "wisconsin", "chameleon", "squirrel"};
  return names;
}

/// What `bench scaling` varies, and the solvers that it measures (measure_scaling.h).
inline const std::vector<std::string>& scaling_axes() {
  static const std::vector<std::string> axes = {"nodes",      "features", "density",
                                                "components", "wide",     "identity"};
  return axes;
}
inline const std::vector<std::string>& scaling_solvers() {
  static const std::vector<std::string> solvers = {"sparse", "picard", "spectral", "krylov", "direct"};
  return solvers;
}

}  // namespace eignn
