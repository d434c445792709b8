// A run's result and configuration as JSON, for summary.json, output and tables of results.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "eignn/train.h"

namespace eignn {

using ResultJson = nlohmann::ordered_json;

/// A configuration as an object: numbers as numbers, names as texts.
ResultJson config_json(const TrainConfig& config);

/// The object of summary.json.
ResultJson result_json(const RunResult& result);

/// What was read of tables, as an array of objects.
ResultJson columns_json(const std::vector<ColumnReport>& columns);

ResultJson reduction_json(const ReductionFacts& facts);
ResultJson error_bound_json(const ErrorBound& bound);

/// With "format" and a digest of the rest under "digest", as summary.json has it.
ResultJson sealed(ResultJson json);

/// From a summary.json of this or an earlier format, which may have fewer keys. DataError for invalid
/// content, and in our own format for a key that is missing or not known; `path` names the file in messages.
RunResult result_from_json(ResultJson json, const std::string& path);

/// A run that did not converge, as failure.json has it.
struct RecordedFailure {
  TrainConfig config;
  std::string message;
  double seconds = 0;  // that it took until it failed
};
ResultJson failure_json(const RecordedFailure& failure);
RecordedFailure failure_from_json(ResultJson json, const std::string& path);

}  // namespace eignn
