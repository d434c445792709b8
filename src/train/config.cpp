#include "train/config.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include "eignn/error.h"

namespace eignn {

std::string to_toml(const TrainConfig& config) {
  TrainConfig copy = config;
  std::string out;
  for (const Field& field : fields(copy)) {
    const char* quote = field.kind == Field::Kind::text ? "\"" : "";
    out += fmt::format("{} = {}{}{}  # {}\n", field.name, quote, field.get(), quote, field.help);
  }
  return out;
}

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
