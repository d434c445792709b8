// Conversions between libtorch's tensors and the bytes of files.
#pragma once

#include <torch/types.h>

#include <memory>

#include "data/npy.h"
#include "data/safetensors.h"

namespace eignn {

/// A contiguous CPU copy of the tensor's elements. float32, float64, int64, int32, uint8 and bool.
TensorBytes to_bytes(const torch::Tensor& tensor);
torch::Tensor to_tensor(const TensorBytes& bytes);
/// Element types that libtorch lacks become int64.
torch::Tensor to_tensor(const Array& array);

/// The same without a copy. `view_of` takes a contiguous CPU tensor that must outlive the view; the tensor of
/// `tensor_over` keeps `owner`, which owns its memory, alive.
TensorView view_of(const torch::Tensor& tensor);
torch::Tensor tensor_over(const TensorView& view, std::shared_ptr<const void> owner);

void write_npy(const std::string& path, const torch::Tensor& tensor);

}  // namespace eignn
