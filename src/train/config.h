// A run's configuration as a text, and as the things of the equilibrium room that it names.
#pragma once

#include <string>

#include "eignn/train.h"

namespace eignn {

/// config.toml: one `name = value` per field that the model reads.
std::string to_toml(const TrainConfig& config);

torch::Dtype torch_dtype(Precision precision);
/// ResourceError when there is no such device here.
torch::Device torch_device(DeviceKind device);

}  // namespace eignn
