// Dropout.
#pragma once

#include <torch/types.h>

namespace eignn {

/// A new random generator for this device, independent of libtorch's default one.
at::Generator generator_on(torch::Device device);

/// 1/(1-p) with probability 1-p, else 0. `generator` must be one for the type's device. On the CPU p is
/// rounded to a multiple of 1/65536, and each entry is a function of its position and of one number drawn
/// from `generator`: the mask is computed in parallel and does not depend on the number of threads.
/// (libtorch's bernoulli_ is sequential and took half of a deep model's epoch.) On the CPU these may be some
/// rows (int64) of the mask of a taller matrix.
torch::Tensor dropout_mask(at::IntArrayRef sizes, const torch::TensorOptions& type, double p,
                           at::Generator& generator, const torch::Tensor& rows = {});

/// ReLU(x) ∘ mask in one pass, without storing the mask; the backward pass needs only the result. x must be
/// on the CPU.
torch::Tensor relu_and_dropout(const torch::Tensor& x, double p, at::Generator& generator);

}  // namespace eignn
