#include "models/encoder.h"

#include <torch/torch.h>

#include <utility>

#include "models/backward_state.h"

namespace eignn {

namespace {

struct Encoded {
  std::shared_ptr<const FeatureProduct> X;
  torch::Tensor H;
  bool relu;
};

// Gives H, which is known, its gradient in W and b: with G = ∂L/∂(X Wᵀ + b), ∂W = Gᵀ X and ∂b = Gᵀ 1.
class EncodedFunction : public torch::autograd::Function<EncodedFunction> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& /*W*/,
                               const torch::Tensor& /*b*/, const BackwardStatePtr<Encoded>& encoded) {
    save_for_backward(context, encoded);
    return encoded->value.H.detach();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const Encoded& encoded = saved_for_backward<Encoded>(context);
    const auto G = encoded.relu ? gradients[0] * (encoded.H > 0) : gradients[0];
    return {encoded.X->transposed_times(G.contiguous()).t(), G.sum(0), torch::Tensor()};
  }
};

}  // namespace

Encoder::Encoder(torch::Tensor W, torch::Tensor b, Activation activation)
    : W_(std::move(W)), b_(std::move(b)), activation_(activation) {}

torch::Tensor Encoder::operator()(const torch::Tensor& X) const {
  if (!W_.defined()) return X;
  if (X.is_sparse()) {
    Kept once;
    return (*this)(X, once);
  }
  const auto H = torch::addmm(b_, X, W_.t());
  return activation_ == Activation::relu ? torch::relu(H) : H;
}

torch::Tensor Encoder::operator()(const torch::Tensor& X, Kept& kept) const {
  if (!W_.defined() || X.requires_grad()) return (*this)(X);
  const bool relu = activation_ == Activation::relu;
  if (!kept.product || !kept.X.is_same(X)) kept = {X, std::make_shared<const FeatureProduct>(X), {}, -1, -1};
  if (!kept.H.defined() || kept.version_of_W != W_._version() || kept.version_of_b != b_._version()) {
    const torch::NoGradGuard guard;
    auto H = kept.product->times(W_.t().contiguous()).add_(b_);
    kept.H = relu ? H.relu_() : H;
    kept.version_of_W = W_._version();
    kept.version_of_b = b_._version();
  }
  if (!torch::GradMode::is_enabled()) return kept.H;
  return EncodedFunction::apply(W_, b_, backward_state(Encoded{kept.product, kept.H, relu}));
}

}  // namespace eignn
