// Which of EIGNN's tables for data without a recipe suits a data set: [own] or one of its variants.
#pragma once

#include <set>
#include <string>

#include "eignn/dataset.h"
#include "eignn/options.h"

namespace eignn {

struct OwnChoice {
  std::string table;  // of recipes/eignn.toml
  std::string why;    // in words: "neighbours are of other classes (adjusted homophily 0.02)"
};

/// Reads the graph, and the labels of the first split's training nodes. `raw` is the data as they were read.
OwnChoice choose_own_table(const Dataset& raw);

/// The same for a run that took [own] from its data set's lack of a recipe: lays the chosen table over the
/// settings that are not in `given`, and adds their names to `applied`.
OwnChoice apply_own_rule(TrainConfig& config, const std::set<std::string>& given, const Dataset& raw,
                         std::set<std::string>* applied = nullptr);

}  // namespace eignn
