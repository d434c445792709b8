// A run's configuration as a text, and as the things of the equilibrium room that it names.
#pragma once

#include <string>

#include "eignn/train.h"

namespace eignn {

/// The format of config.toml, in its key `format`. A file without the key is of the time before there was
/// one.
constexpr int64_t config_format = 1;

/// config.toml: one `name = value` per field that the model reads.
std::string to_toml(const TrainConfig& config);

torch::Dtype torch_dtype(Precision precision);
/// ResourceError when there is no such device here.
torch::Device torch_device(DeviceKind device);

}  // namespace eignn
