// What `eignn inspect` tells of a graph, a data set or a checkpoint.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "eignn/train.h"

namespace eignn {

using InspectionJson = nlohmann::ordered_json;

/// Of `config` a graph uses the propagation flags and `feature_dim`, the number of features to plan for.
InspectionJson inspect_graph(const std::string& path, const std::string& format, const TrainConfig& config);
InspectionJson inspect_dataset(const TrainConfig& config);
InspectionJson inspect_checkpoint(const std::string& path);

}  // namespace eignn
