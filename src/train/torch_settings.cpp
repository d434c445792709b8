#include "train/torch_settings.h"

#include <torch/torch.h>

#include "eignn/error.h"

namespace eignn {

torch::Dtype torch_dtype(Precision precision) {
  return precision == Precision::float32 ? torch::kFloat32 : torch::kFloat64;
}

torch::Device torch_device(DeviceKind device) {
  if (device == DeviceKind::cpu) return torch::kCPU;
  if (!torch::cuda::is_available())
    throw ResourceError("there is no CUDA device, or this libtorch was built without CUDA", "device cuda",
                        "use device cpu");
  return torch::kCUDA;
}

}  // namespace eignn
