// The layer before the equilibria: H = a(X Wᵀ + b), with a = ReLU or the identity.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "eignn/options.h"
#include "models/features.h"

namespace eignn {

class Encoder {
 public:
  /// No encoder: H = X.
  Encoder() = default;
  /// W is (width, features), b is (width).
  Encoder(torch::Tensor W, torch::Tensor b, Activation activation);

  /// H, differentiable in W, b and X.
  torch::Tensor operator()(const torch::Tensor& X) const;

  /// H of features that stay, the last time that it was asked for.
  struct Kept {
    torch::Tensor H;
    int64_t version_of_W = -1, version_of_b = -1;
  };
  /// The same. Where X needs no gradient, H is the same memory in every call until W or b changes, so that an
  /// equilibrium that was solved for it in an evaluation serves the next training step; and zeros of X are
  /// skipped.
  torch::Tensor operator()(const Features& X, Kept& kept) const;

 private:
  torch::Tensor W_, b_;
  Activation activation_ = Activation::none;
};

}  // namespace eignn
