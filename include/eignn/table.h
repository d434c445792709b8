// A user's own tables: what can be said of them, and what the reader tells.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "eignn/options.h"

namespace eignn {

/// What a column of a table was taken for.
enum class ColumnRole { id, source, target, weight, label, split, numbers, category, text, ignored };
const char* name(ColumnRole role);

/// What a column of features was in the training of a model: numbers, a category, or free text, which is not
/// used.
struct TrainedColumn {
  std::string name;
  ColumnRole role = ColumnRole::numbers;
};

/// What a person may say of tables (nodes.csv, edges.csv; docs/data.md), beyond their path.
struct TableOptions {
  std::vector<std::string> label;           // the columns of the labels; empty: found by their name
  std::vector<std::string> ignore_columns;  // columns of any file that are left out
  Task task = Task::automatic;
  EdgeWeights edge_weights = EdgeWeights::automatic;
  /// Not empty: the table is for a model that was trained with these columns. They are read as they were
  /// then, whatever this file alone would suggest, and a split that names nobody for one of its parts is left
  /// out.
  std::vector<TrainedColumn> trained_columns = {};

  /// Of the settings `label` and `ignore-columns`: names with commas between.
  static TableOptions from(const TrainConfig& config);
};

/// A column of a table, as it was read. `features` of the data set holds its numbers, NaN where there is a
/// gap, or for a category the position of its word in `words`.
struct FeatureColumn {
  std::string name;
  std::vector<std::string> words;  // empty: the column has numbers
  bool is_category() const { return !words.empty(); }
};

/// What was read of one column of a table, and what was done with it.
struct ColumnReport {
  std::string file, column;  // the file's name without its folder
  ColumnRole role = ColumnRole::ignored;
  int64_t gaps = 0;       // fields without a value; of features also those of nodes without a row
  std::string note = {};  // for people: "3 classes: a, b, c"; may be empty
  /// What became of a feature before a model: "gaps filled with the median 0.5"; empty before that is done.
  std::string treatment = {};
};

}  // namespace eignn
