// predictions.csv: a row for each node of a data set.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "eignn/checkpoint.h"
#include "eignn/dataset.h"

namespace eignn {

/// What stands behind `predicted`.
struct PredictionColumns {
  bool probabilities = true;  // one column for each class
  int64_t top = 0;            // so many of the likeliest classes, each with its probability
  bool head = true;           // a first line with their names
};

/// The classes of one row by falling probability, `count` of them; equal ones in the order of their numbers.
std::vector<int64_t> likeliest(const double* probability, int64_t classes, int64_t count);

/// node,split,label,predicted,p0,p1,… in the data's own names where it has some. `label` is the data's, empty
/// where it is not known; sets of labels are separated by blanks where they are numbers, else by semicolons,
/// - for the empty set. `class_names` are those of the predictions (empty: numbers). In a regression of
/// several numbers label and predicted are columns for each.
std::string predictions_csv(const Dataset& data, const Split& split, const Predictions& predictions,
                            const std::vector<std::string>& class_names,
                            const PredictionColumns& columns = {});
void write_predictions_csv(const std::string& path, const Dataset& data, const Split& split,
                           const Predictions& predictions, const std::vector<std::string>& class_names,
                           const PredictionColumns& columns = {});

}  // namespace eignn
