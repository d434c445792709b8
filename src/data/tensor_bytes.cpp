#include "data/tensor_bytes.h"

#include <torch/torch.h>

#include <cstring>

#include "eignn/error.h"

namespace eignn {

namespace {

struct Pair {
  torch::Dtype dtype;
  ElementType type;
};
constexpr Pair pairs[] = {{torch::kFloat32, ElementType::float32}, {torch::kFloat64, ElementType::float64},
                          {torch::kInt64, ElementType::int64},     {torch::kInt32, ElementType::int32},
                          {torch::kUInt8, ElementType::uint8},     {torch::kBool, ElementType::boolean}};

}  // namespace

TensorBytes to_bytes(const torch::Tensor& tensor) {
  const auto t = tensor.detach().to(torch::kCPU).contiguous();
  for (const Pair& pair : pairs)
    if (pair.dtype == t.scalar_type()) {
      TensorBytes out{pair.type, t.sizes().vec(), std::vector<unsigned char>(t.nbytes())};
      if (t.nbytes() > 0) std::memcpy(out.bytes.data(), t.data_ptr(), t.nbytes());
      return out;
    }
  throw std::invalid_argument("no file type for this tensor");
}

torch::Tensor to_tensor(const TensorBytes& bytes) {
  for (const Pair& pair : pairs)
    if (pair.type == bytes.type) {
      auto t = torch::empty(bytes.shape, pair.dtype);
      if (!bytes.bytes.empty()) std::memcpy(t.data_ptr(), bytes.bytes.data(), bytes.bytes.size());
      return t;
    }
  throw InputError(std::string("tensors of type ") + name(bytes.type) +
                   " are not read; save float32 or float64");
}

void write_npy(const std::string& path, const torch::Tensor& tensor) {
  const TensorBytes t = to_bytes(tensor);
  write_npy(path, t.type, t.shape, t.bytes.data());
}

}  // namespace eignn
