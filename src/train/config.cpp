#include "train/config.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <limits>

#include "data/toml.h"
#include "eignn/error.h"

namespace eignn {

std::string to_toml(const TrainConfig& config) {
  TrainConfig copy = config;
  std::string out = fmt::format("format = {}  # of this file\n", config_format);
  for (const Field& field : fields(copy)) {
    const std::string text = field.get();
    // TOML's whole numbers are signed.
    const bool beyond = field.kind == Field::Kind::integer && text.size() >= 19 &&
                        config.seed > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    const bool quoted = field.kind == Field::Kind::text || beyond;
    out += fmt::format("{} = {}  # {}\n", field.name, quoted ? toml_string(text) : text, field.help);
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
