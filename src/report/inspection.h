// `eignn inspect`: the inspection of files by name, and its JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "eignn/inspect.h"

namespace eignn {

using InspectionJson = nlohmann::ordered_json;

InspectionJson inspection_json(const Inspection& inspection);

Inspection inspect_graph_file(const std::string& path, const std::string& format, const TrainConfig& config);

/// The data set that the configuration names, with the caveats of the catalogue where it is one of those.
Inspection inspect_dataset(const TrainConfig& config);

/// The shapes of a checkpoint's weights, the leading eigenvalues of its g, its configuration.
InspectionJson inspect_checkpoint(const std::string& path);

}  // namespace eignn
