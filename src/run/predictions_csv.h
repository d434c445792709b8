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
  int64_t rows = -1;          // of so many nodes, from the first on; -1: of all
};

/// The classes of one row by falling probability, `count` of them; equal ones in the order of their numbers.
std::vector<int64_t> likeliest(const double* probability, int64_t classes, int64_t count);

/// node,split,label,predicted,p0,p1,… in the data's own names where it has some. `label` is the data's, empty
/// where it is not known; sets of labels are separated by blanks where they are numbers, else by semicolons,
/// - for the empty set. `class_names` are those of the predictions (empty: numbers). In a regression of
/// several numbers label and predicted are columns for each. `line_ends`, where it is given, becomes where
/// the line of each node ends.
std::string predictions_csv(const Dataset& data, const Split& split, const Predictions& predictions,
                            const std::vector<std::string>& class_names,
                            const PredictionColumns& columns = {}, std::vector<size_t>* line_ends = nullptr);
void write_predictions_csv(const std::string& path, const Dataset& data, const Split& split,
                           const Predictions& predictions, const std::vector<std::string>& class_names,
                           const PredictionColumns& columns = {});

/// The same where the nodes are spread over processes: each gives the lines of its own nodes in `here`, and
/// the first one writes them into one file, in the order of the data set. Collective.
void write_predictions_together(const std::string& path, const Dataset& here, const Split& split,
                                const Predictions& predictions, const std::vector<std::string>& class_names,
                                PredictionColumns columns = {});
/// A .npy file of a float64 matrix of which each process has the rows of its own nodes.
void write_npy_together(const std::string& path, const Dataset& here, const torch::Tensor& rows);

}  // namespace eignn
