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

torch::Tensor copied(const std::vector<int64_t>& shape, torch::Dtype dtype,
                     const std::vector<unsigned char>& bytes) {
  auto t = torch::empty(shape, dtype);
  if (!bytes.empty()) std::memcpy(t.data_ptr(), bytes.data(), bytes.size());
  return t;
}

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

torch::Tensor to_tensor(const Array& array) {
  for (const Pair& pair : pairs)
    if (pair.type == array.type) return copied(array.shape, pair.dtype, array.bytes);
  const std::vector<int64_t> wider = array.as<int64_t>();
  return torch::tensor(wider, torch::kInt64).view(array.shape);
}

torch::Tensor to_tensor(const TensorBytes& bytes) {
  for (const Pair& pair : pairs)
    if (pair.type == bytes.type) return copied(bytes.shape, pair.dtype, bytes.bytes);
  throw InputError(std::string("tensors of type ") + name(bytes.type) +
                   " are not read; save float32 or float64");
}

void write_npy(const std::string& path, const torch::Tensor& tensor) {
  const TensorBytes t = to_bytes(tensor);
  write_npy(path, t.type, t.shape, t.bytes.data());
}

}  // namespace eignn
