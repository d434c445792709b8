// From the values of a data set to the features that a model reads: gaps filled, categories as columns,
// scales. Fitted on the training nodes, kept in the checkpoint.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "eignn/dataset.h"
#include "eignn/options.h"

namespace eignn {

/// What happens to each column of a data set on its way to the model. Columns are matched by name where both
/// sides have names, by position otherwise.
///
///     const auto transform = FeatureTransform::fit(data, data.splits[0].train, FeatureNorm::standard);
///     data.features = transform.apply(data);      // and the same transform for data that come later
class FeatureTransform {
 public:
  /// The columns of a category are those of its most frequent words, so many at most; the rest is "other".
  static constexpr size_t most_words = 30;

  /// Medians, means, scales and categories over `training` (int64, CPU); over all nodes when it is undefined
  /// or empty. DataError where no column is left to learn from.
  static FeatureTransform fit(const Dataset& data, const torch::Tensor& training, FeatureNorm norm);

  /// Whether fit() reads more of the data than the number of features.
  static bool depends_on_training(const Dataset& data, FeatureNorm norm);

  /// Whether it was fitted on training nodes.
  bool is_fitted() const { return !columns_.empty(); }

  /// The features that the model reads, float64 (n, outputs). DataError for a column that is missing or not
  /// known, named. Where there is nothing to do, this is data.features itself.
  torch::Tensor apply(const Dataset& data) const;

  /// The names of the model's features: "age", "age (missing)", "city = Rome", "city (other)". Features
  /// without names are called by their numbers.
  std::vector<std::string> names() const;
  int64_t outputs() const;

  /// Of the data: how many there are, and whether they are matched by name.
  int64_t inputs() const;
  bool has_names() const;

  /// What each named column was, for the reader of further tables (TableOptions::trained_columns). Without
  /// those that were the same at all training nodes, which may be anything.
  std::vector<TrainedColumn> trained_columns() const;

  /// What was done to an input column, in words: "7 gaps filled with 0.5", "constant: left out"; empty: it is
  /// taken as it is. In the order of the columns; empty where there is nothing to do to any.
  struct Treatment {
    std::string name, words;
  };
  std::vector<Treatment> treatments() const;

  /// One line of JSON, exact, for a checkpoint; from_json() of the same text gives the same transform.
  /// DataError naming `where` for a text that is none.
  std::string to_json() const;
  static FeatureTransform from_json(const std::string& text, const std::string& where);

  /// How to undo what was done to each output: raw = value · scale + shift. For explanations in raw units.
  /// (`row` divides by a number of the node, which is not undone.)
  struct Affine {
    double scale = 1, shift = 0;
  };
  std::vector<Affine> raw_units() const;

 private:
  enum class Kind { number, category, constant };

  // A column of the data, and the one or several outputs that it becomes.
  struct Column {
    std::string name;  // empty where the data's columns have no names
    Kind kind = Kind::number;
    double fill = 0;                 // numbers: what a gap becomes, the training median
    double shift = 0, scale = 1;     // numbers: (value - shift) / scale
    bool gaps = false;               // the last output is 1 where the value is missing
    std::vector<std::string> words;  // categories: an output for each of these
    bool other = false;              // categories: and one for all other words
    int64_t outputs() const;
  };

  static Column fit_number(const double* values, int64_t stride, const std::vector<int64_t>& rows,
                           FeatureNorm norm);
  static Column fit_category(const FeatureColumn& column, const double* values, int64_t stride,
                             const std::vector<int64_t>& rows);
  std::vector<int64_t> inputs_of(const Dataset& data) const;
  std::vector<int64_t> outputs_of_words(const Dataset& data, const Column& column, int64_t input) const;

  FeatureNorm norm_ = FeatureNorm::none;
  int64_t untouched_ = 0;            // how many features there are, where no column is changed by itself …
  std::vector<Column> columns_;      // … else the columns
  std::vector<std::string> unused_;  // columns of free text, which the data may have or not
};

}  // namespace eignn
