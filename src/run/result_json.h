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

/// With a digest of the rest under "digest", as summary.json has it.
ResultJson sealed(ResultJson json);

/// From a summary.json of this or an earlier format, which may have fewer keys. DataError for invalid
/// content; `path` names the file in messages.
RunResult result_from_json(const ResultJson& json, const std::string& path);

}  // namespace eignn
