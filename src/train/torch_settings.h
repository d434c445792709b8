// The settings of a run as the libtorch values that they name.
#pragma once

#include <torch/types.h>

#include "eignn/options.h"

namespace eignn {

torch::Dtype torch_dtype(Precision precision);
/// ResourceError when there is no such device here.
torch::Device torch_device(DeviceKind device);

}  // namespace eignn
