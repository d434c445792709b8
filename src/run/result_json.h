// A run's result and configuration as JSON: where summary.json, a terminal or a table of results begins.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "eignn/train.h"

namespace eignn {

using ResultJson = nlohmann::ordered_json;

/// A configuration as an object: numbers as numbers, names as texts.
ResultJson config_json(const TrainConfig& config);

/// The object of summary.json.
ResultJson result_json(const RunResult& result);

/// From a summary.json, of this format or of an earlier one, which may know less. DataError for what does not
/// make sense; `path` names it.
RunResult result_from_json(const ResultJson& json, const std::string& path);

/// Sets the fields that this model reads; those of other models, which files of the first format have, say
/// nothing. ArgumentError for a name that no model has.
void assign_known(TrainConfig& config, std::map<std::string, std::string> texts);

}  // namespace eignn
