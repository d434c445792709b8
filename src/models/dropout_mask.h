// Dropout.
#pragma once

#include <torch/types.h>

namespace eignn {

/// A generator of random numbers of its own for this device.
at::Generator generator_on(torch::Device device);

/// 1/(1-p) with probability 1-p, else 0. `generator` is one for the type's device. On the CPU p is rounded to
/// 1/65536, and each entry is a function of its place and of one number that `generator` draws, so that
/// threads share the work and the mask is the same for any number of them: libtorch's bernoulli_ goes through
/// one generator entry by entry, which was half of a deep model's epoch.
torch::Tensor dropout_mask(at::IntArrayRef sizes, const torch::TensorOptions& type, double p,
                           at::Generator& generator);

/// ReLU(x) ∘ mask in one pass, without a mask in memory; its gradient needs nothing but the result. x is on
/// the CPU.
torch::Tensor relu_and_dropout(const torch::Tensor& x, double p, at::Generator& generator);

}  // namespace eignn
