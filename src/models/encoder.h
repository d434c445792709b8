// The layer before the equilibria: H = a(X Wᵀ + b), with a = ReLU or the identity.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>

#include "eignn/options.h"
#include "equilibrium/feature_product.h"

namespace eignn {

class Encoder {
 public:
  /// No encoder: H = X.
  Encoder() = default;
  /// W is (width, features), b is (width).
  Encoder(torch::Tensor W, torch::Tensor b, Activation activation);

  /// H for dense or sparse features, differentiable in W and b, and in a dense X.
  torch::Tensor operator()(const torch::Tensor& X) const;

  /// What is known of one graph's features.
  struct Kept {
    torch::Tensor X;
    std::shared_ptr<const FeatureProduct> product;  // with X, whose zeros are skipped where that pays
    torch::Tensor H;                                // for W and b of these versions
    int64_t version_of_W = -1, version_of_b = -1;
  };
  /// The same. Where X needs no gradient, H is the same memory in every call until W or b changes, so that an
  /// equilibrium that was solved for it in an evaluation serves the next training step.
  torch::Tensor operator()(const torch::Tensor& X, Kept& kept) const;

 private:
  torch::Tensor W_, b_;
  Activation activation_ = Activation::none;
};

}  // namespace eignn
