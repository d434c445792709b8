#include "data/tensor_bytes.h"

#include <fmt/format.h>
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

ElementType type_of(const torch::Tensor& tensor) {
  for (const Pair& pair : pairs)
    if (pair.dtype == tensor.scalar_type()) return pair.type;
  throw std::invalid_argument("no file type for this tensor");
}

torch::Dtype dtype_of(ElementType type) {
  for (const Pair& pair : pairs)
    if (pair.type == type) return pair.dtype;
  throw DataError({}, {}, fmt::format("tensors of type {} are not read", name(type)),
                  "save float32 or float64");
}

}  // namespace

TensorBytes to_bytes(const torch::Tensor& tensor) {
  const auto t = tensor.detach().to(torch::kCPU).contiguous();
  TensorBytes out{type_of(t), t.sizes().vec(), std::vector<unsigned char>(t.nbytes())};
  if (t.nbytes() > 0) std::memcpy(out.bytes.data(), t.data_ptr(), t.nbytes());
  return out;
}

torch::Tensor to_tensor(const Array& array) {
  for (const Pair& pair : pairs)
    if (pair.type == array.type) return copied(array.shape, pair.dtype, array.bytes);
  const std::vector<int64_t> wider = array.as<int64_t>();
  return torch::tensor(wider, torch::kInt64).view(array.shape);
}

torch::Tensor to_tensor(const TensorBytes& bytes) {
  return copied(bytes.shape, dtype_of(bytes.type), bytes.bytes);
}

TensorView view_of(const torch::Tensor& tensor) {
  if (!tensor.is_cpu() || !tensor.is_contiguous()) throw std::invalid_argument("view_of: not contiguous");
  return {type_of(tensor), tensor.sizes().vec(), static_cast<const unsigned char*>(tensor.data_ptr()),
          tensor.nbytes()};
}

torch::Tensor tensor_over(const TensorView& view, std::shared_ptr<const void> owner) {
  const auto dtype = dtype_of(view.type);
  if (reinterpret_cast<uintptr_t>(view.data) % c10::elementSize(dtype) != 0)
    throw DataError({}, {}, "a tensor is not aligned in its file", "write the file anew");
  auto* data = const_cast<unsigned char*>(view.data);
  return torch::from_blob(
      data, view.shape, [kept = std::move(owner)](void*) {}, dtype);
}

void write_npy(const std::string& path, const torch::Tensor& tensor) {
  const TensorBytes t = to_bytes(tensor);
  write_npy(path, t.type, t.shape, t.bytes.data());
}

}  // namespace eignn
